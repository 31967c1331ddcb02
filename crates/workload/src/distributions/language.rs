//! The script language's functions, the generator below them, and the pauses
//! of a rate.
//!
//! The formulas of `random_exponential`, `random_gaussian` and
//! `random_zipfian` are those of the PostgreSQL manual, pgbench, "Built-In
//! Functions".

use pgdyno_script::random::{Streams, hash_fnv1a, hash_murmur2, permute};

use super::{DRAWS, Draws, expected};
use crate::testing::{Cells, assert_fits, assert_uniform};
use pgdyno_script::Prng;

/// `random` is even over ranges of any width and place: where the range is no
/// power of two and where it has half of all numbers.
#[test]
fn random_is_even() {
    for (first, last) in [
        (1, 6),
        (-3, 3),
        (0, 1 << 40),
        (-4_611_686_018_427_387_904, 4_611_686_018_427_387_000),
        (0, 6_148_914_691_236_517_205),
        (1, i64::MAX - 1),
    ] {
        let mut draws = Draws::of_text(&format!("\\set x random({first}, {last})\n"), 1);
        draws.assert_even("x", first..=last, &format!("random({first}, {last})"));
    }
}

/// Fractions are even, and normal numbers are normal.
#[test]
fn fractions_and_normal_numbers() {
    const CELLS: usize = 100;
    let mut stream = Prng::new(17);
    let mut fractions = vec![0u64; CELLS];
    for _ in 0..DRAWS {
        fractions[(stream.double() * CELLS as f64) as usize] += 1;
    }
    assert_uniform(&fractions, "fractions");
    // From -2.5 to 2.5 deviations, and one cell for what is beyond either end.
    let mut normal = vec![0u64; 52];
    for _ in 0..DRAWS {
        let cell = (stream.normal() * 10.0 + 26.0).clamp(0.0, 51.0);
        normal[cell as usize] += 1;
    }
    let mut weights: Vec<f64> = (-26..26)
        .map(|tenth| normal_mass(f64::from(tenth) / 10.0, f64::from(tenth + 1) / 10.0))
        .collect();
    weights[0] = normal_mass(-9.0, -2.5);
    weights[51] = normal_mass(2.5, 9.0);
    assert_fits(&normal, &expected(&weights), "normal numbers");
}

/// The streams of a run have nothing to do with each other: the first draws of
/// all clients are even, and so are those of the threads.
#[test]
fn streams_are_even() {
    const CLIENTS: usize = 20_000;
    let streams = Streams::new(42, CLIENTS, false);
    let first = |stream: &mut Prng, cells: &mut Cells| cells.add(stream.uniform(1, 100));
    let mut cells = Cells::new(1..=100);
    for mut stream in streams.clients().take(CLIENTS) {
        first(&mut stream, &mut cells);
    }
    cells.assert_even("first draws of clients");
    let mut cells = [(); 3].map(|()| Cells::new(1..=100));
    for mut thread in streams.threads().take(CLIENTS) {
        let all = [&mut thread.choice, &mut thread.throttle, &mut thread.sampling];
        for (stream, cells) in all.into_iter().zip(&mut cells) {
            first(stream, cells);
        }
    }
    for cells in cells {
        cells.assert_even("first draws of threads");
    }
}

/// Hashes of neighbours are even over what they are taken modulo.
#[test]
fn hashes_are_even() {
    for (name, hash) in [("fnv1a", hash_fnv1a as fn(i64, i64) -> i64), ("murmur2", hash_murmur2)] {
        let mut cells = Cells::new(0..=96);
        for value in 0..DRAWS as i64 {
            cells.add(hash(value, 5).rem_euclid(97));
        }
        cells.assert_even(name);
    }
}

/// Pauses between starts under a rate are exponential around the mean.
#[test]
fn pauses_are_exponential() {
    const CLASSES: usize = 50;
    let mean = 25_000.0;
    let mut stream = Prng::new(23);
    let mut counts = vec![0u64; CLASSES];
    for _ in 0..DRAWS {
        let share = 1.0 - (-(stream.throttle_delay_us(mean) as f64) / mean).exp();
        counts[((share * CLASSES as f64) as usize).min(CLASSES - 1)] += 1;
    }
    assert_uniform(&counts, "pauses");
}

/// Ranks follow Zipf's law from two ranks on, and whatever the exponent.
#[test]
fn zipfian_as_the_manual_says() {
    for (ranks, exponent) in [(2i32, "1.5"), (10, "1.001"), (10, "1.5"), (30, "1.2")] {
        let text = format!("\\set x random_zipfian(1, {ranks}, {exponent})\n");
        let mut draws = Draws::of_text(&text, 1);
        let mut counts = vec![0u64; ranks as usize];
        for _ in 0..DRAWS {
            draws.draw();
            counts[draws.count("x") as usize - 1] += 1;
        }
        let power: f64 = exponent.parse().unwrap();
        let weights: Vec<f64> = (1..=ranks).map(|rank| f64::from(rank).powf(-power)).collect();
        assert_fits(&counts, &expected(&weights), &text);
    }
}

/// Where a value goes in a permutation is even over all seeds.
#[test]
fn places_in_permutations_are_even() {
    for size in [7i64, 100, 1000] {
        for value in [0, 1, size - 1] {
            let mut cells = Cells::new(0..=size - 1);
            for seed in 0..DRAWS as i64 {
                cells.add(permute(value, size, seed));
            }
            cells.assert_even(&format!("places of {value} of {size}"));
        }
    }
}

/// Permutations of any size are permutations.
#[test]
fn permutations_of_any_size() {
    for size in [1usize, 2, 3, 64, 100, 997, 4096] {
        for seed in [0, 1, -5] {
            let mut seen = vec![0u64; size];
            for value in 0..size {
                let size = i64::try_from(size).unwrap();
                let to = permute(value as i64, size, seed);
                seen[usize::try_from(to).unwrap()] += 1;
            }
            assert!(seen.iter().all(|count| *count == 1), "size {size}, seed {seed}");
        }
    }
}

/// The functions that scripts of people's own may use.
#[test]
fn exponential_and_gaussian_as_the_manual_says() {
    const MOST: usize = 100;
    let counts = |call: &str| {
        let mut draws = Draws::of_text(&format!("\\set x {call}\n"), 1);
        let mut counts = vec![0u64; MOST];
        for _ in 0..DRAWS {
            draws.draw();
            counts[draws.count("x") as usize - 1] += 1;
        }
        counts
    };
    let p = 3.0f64;
    let weights: Vec<f64> = (0..MOST)
        .map(|value| {
            let at = |x: usize| (-p * x as f64 / MOST as f64).exp();
            at(value) - at(value + 1)
        })
        .collect();
    assert_fits(&counts("random_exponential(1, 100, 3.0)"), &expected(&weights), "exponential");
    let p = 2.5f64;
    let weights: Vec<f64> = (0..MOST)
        .map(|value| {
            let at = |x: f64| 2.0 * p * (x - MOST as f64 / 2.0) / MOST as f64;
            normal_mass(at(value as f64), at(value as f64 + 1.0))
        })
        .collect();
    assert_fits(&counts("random_gaussian(1, 100, 2.5)"), &expected(&weights), "gaussian");
}

/// The normal density between two bounds, by Simpson's rule.
fn normal_mass(from: f64, to: f64) -> f64 {
    const STEPS: u32 = 16;
    let width = (to - from) / f64::from(STEPS);
    let sum: f64 = (0..=STEPS)
        .map(|step| {
            let x = width.mul_add(f64::from(step), from);
            let factor = match step {
                0 | STEPS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            factor * (-x * x / 2.0).exp()
        })
        .sum();
    sum * width / 3.0
}
