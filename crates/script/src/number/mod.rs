//! Numbers as C reads and writes them: `strtod`, `strtol`, `%.15g`, `%f`.
//!
//! The standard library does the rounding in both directions; what is added is
//! C's notation and its idea of a range error. The locale is always C's.

mod read;
mod write;

pub(crate) use read::{atoi, digits_to_int, long, signed, skip_blanks, split_sign, strtod, strtol};
pub use write::{double_text, fixed6, write_double};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::RunError;
    use crate::names::Names;
    use crate::text::classify;
    use crate::value::Value;
    use crate::vars::Vars;
    use proptest::prelude::*;

    /// Texts, and what pgbench 18.6 said for `-D v=TEXT` and `debug(:v)`; errors behind an `E`.
    const TYPED: &[(&str, &str)] = &[
        ("null", "null"),
        ("NULL", "null"),
        ("nul", "E malformed variable \"v\" value: \"nul\""),
        ("t", "boolean true"),
        ("TR", "boolean true"),
        ("true", "boolean true"),
        ("truex", "E malformed variable \"v\" value: \"truex\""),
        ("y", "boolean true"),
        ("yes", "boolean true"),
        ("on", "boolean true"),
        ("o", "E malformed variable \"v\" value: \"o\""),
        ("of", "boolean false"),
        ("off", "boolean false"),
        ("f", "boolean false"),
        ("n", "boolean false"),
        ("no", "boolean false"),
        ("ON", "boolean true"),
        ("1", "int 1"),
        (" 1", "int 1"),
        ("\t 12", "int 12"),
        ("1 ", "E malformed variable \"v\" value: \"1 \""),
        ("+5", "int 5"),
        ("-5", "int -5"),
        ("- 5", "E malformed variable \"v\" value: \"- 5\""),
        ("+", "E invalid input syntax for type bigint: \"+\""),
        ("-", "E invalid input syntax for type bigint: \"-\""),
        ("9223372036854775807", "int 9223372036854775807"),
        ("-9223372036854775808", "int -9223372036854775808"),
        ("9223372036854775808", "E value \"9223372036854775808\" is out of range for type bigint"),
        ("1.5", "double 1.5"),
        (" 1.5", "double 1.5"),
        ("1.5 ", "E malformed variable \"v\" value: \"1.5 \""),
        (".5", "double 0.5"),
        ("5.", "double 5"),
        (".", "E malformed variable \"v\" value: \".\""),
        ("1e5", "double 100000"),
        ("1e", "E malformed variable \"v\" value: \"1e\""),
        ("1e400", "E malformed variable \"v\" value: \"1e400\""),
        ("1e-400", "E malformed variable \"v\" value: \"1e-400\""),
        ("1e-310", "E malformed variable \"v\" value: \"1e-310\""),
        (
            "4.9406564584124654417656879286822137236505980e-324",
            "E malformed variable \"v\" value: \"4.9406564584124654417656879286822137236505980e-324\"",
        ),
        ("5e-324", "E malformed variable \"v\" value: \"5e-324\""),
        ("0x10", "double 16"),
        ("0x1.8p1", "double 3"),
        ("0x", "E malformed variable \"v\" value: \"0x\""),
        ("0x.8", "double 0.5"),
        ("0x1p-1074", "double 4.94065645841247e-324"),
        ("0x1p-1075", "E malformed variable \"v\" value: \"0x1p-1075\""),
        ("0x1.8p-1074", "E malformed variable \"v\" value: \"0x1.8p-1074\""),
        ("0x1.fffffffffffff8p0", "double 2"),
        ("0x1.fffffffffffff7p0", "double 2"),
        ("0x123456789abcdef012345", "double 1.37548893253931e+24"),
        ("0x1p1024", "E malformed variable \"v\" value: \"0x1p1024\""),
        ("0x1p", "E malformed variable \"v\" value: \"0x1p\""),
        ("inf", "double Infinity"),
        ("-inf", "double -Infinity"),
        ("INFINITY", "double Infinity"),
        ("infinit", "E malformed variable \"v\" value: \"infinit\""),
        ("nan", "double NaN"),
        ("-nan", "double NaN"),
        ("nan(1)", "double NaN"),
        ("nan(", "E malformed variable \"v\" value: \"nan(\""),
        ("NaN(a_1)", "double NaN"),
        ("1_000", "E malformed variable \"v\" value: \"1_000\""),
        ("1,5", "E malformed variable \"v\" value: \"1,5\""),
        ("abc", "E malformed variable \"v\" value: \"abc\""),
        ("0e0", "double 0"),
        ("0e-999", "double 0"),
        ("00012", "int 12"),
        ("-0", "int 0"),
        ("-0.0", "double -0"),
        (
            "2.2250738585072011e-308",
            "E malformed variable \"v\" value: \"2.2250738585072011e-308\"",
        ),
        (" ", "E invalid input syntax for type bigint: \" \""),
        ("  +", "E invalid input syntax for type bigint: \"  +\""),
    ];

    /// Bits of doubles, and what the C library wrote for `%.15g`.
    const WRITTEN: &[(u64, &str)] = &[
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "-0"),
        (0x3ff0_0000_0000_0000, "1"),
        (0x3fe0_0000_0000_0000, "0.5"),
        (0x3fb9_9999_9999_999a, "0.1"),
        (0x430c_6bf5_2634_0000, "1e+15"),
        (0x42d6_bcc4_1e90_0000, "100000000000000"),
        (0x430c_6bf5_2633_fffc, "1e+15"),
        (0x42d6_bcc4_1e8f_fffd, "100000000000000"),
        (0x430c_6bf5_2634_0028, "1e+15"),
        (0x430c_6bf5_2634_0078, "1.00000000000002e+15"),
        (0x430c_6bf5_2634_00c8, "1.00000000000002e+15"),
        (0x42dc_1221_8377_de60, "123456789012346"),
        (0x42dc_1221_8377_dea0, "123456789012346"),
        (0x3f1a_36e2_eb1c_432d, "0.0001"),
        (0x3ee4_f8b5_88e3_68f1, "1e-05"),
        (0x3f20_2e4b_6ce5_dc68, "0.00012345"),
        (0x3f1a_36e2_eb1c_432c, "0.0001"),
        (0x0000_0000_0000_0001, "4.94065645841247e-324"),
        (0x7fef_ffff_ffff_ffff, "1.79769313486232e+308"),
        (0x0010_0000_0000_0000, "2.2250738585072e-308"),
        (0x4480_f0cf_064d_d592, "1e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x4009_21fb_5444_2d11, "3.14159265358979"),
        (0x4059_0000_0000_0000, "100"),
        (0x54b2_49ad_2594_c37d, "1e+100"),
        (0x2b2b_ff2e_e48e_0530, "1e-100"),
        (0xbff8_0000_0000_0000, "-1.5"),
        (0x40fe_240c_9fbe_76c9, "123456.789"),
        (0x4164_d839_9f76_7c45, "10928588.9832136"),
        (0x5bc8_fbbc_bde5_c099, "1.41866135258496e+134"),
        (0xb0c1_1fde_cb91_ce37, "-7.57196855605587e-74"),
        (0xd76d_4330_f144_6bea, "-1.40747051882614e+113"),
        (0xa6eb_8c9e_bd69_fe29, "-3.33397454730426e-121"),
        (0x87b0_b125_ec1d_7da0, "-1.23421807662114e-271"),
        (0xd721_0dff_076c_e2ef, "-5.12686400424494e+111"),
        (0xc6a5_3877_7733_0bdb, "-2.15202175798442e+32"),
        (0x3fc1_ea36_f17f_d374, "0.13996016303977"),
        (0x0d46_4138_a623_3255, "1.01853664031722e-244"),
        (0x2827_688d_e6a1_6a3b, "2.97045981862346e-115"),
        (0x5f2d_d97f_1cfb_10f6, "3.05341833387268e+150"),
        (0xde52_7100_7814_e8a2, "-2.30277822281635e+146"),
        (0x6179_59ce_3f1f_65a8, "3.56409621163656e+161"),
        (0x1a1a_fe87_8b33_e968, "6.35292901720745e-183"),
        (0x3fd4_2359_92ed_cf45, "0.314657586560532"),
        (0xbb2e_db20_035b_7399, "-1.27617248017718e-23"),
        (0x687c_966c_377b_9aa2, "2.08686681762253e+195"),
        (0x2e9c_82b1_478c_281d, "3.66898827745704e-84"),
        (0xde11_cc9d_ea95_9c21, "-1.3891222733702e+145"),
        (0x63b2_29f1_c406_9545, "1.75487154331651e+172"),
        (0xc30d_8b76_28db_d25e, "-1.03951424156321e+15"),
        (0x126a_1e48_cc11_d357, "5.78040217714115e-220"),
        (0x9e30_691c_2386_42ea, "-2.84974787161076e-163"),
        (0x71e0_c07e_9e11_5e4b, "3.49069139212474e+240"),
        (0x21da_8978_206f_5c66, "1.32823143875961e-145"),
        (0xf8eb_18b9_0074_5130, "-2.93170611757154e+274"),
        (0x015c_33b2_df14_61aa, "4.11247689733499e-302"),
        (0xc60a_3cab_359e_eefb, "-2.59838538186567e+29"),
        (0xf5ca_e3bf_3729_c619, "-2.58399229816493e+259"),
        (0x2a75_9159_fb7f_f337, "3.76155086772923e-104"),
        (0x4335_7366_01d0_5d2d, "6.03785646521476e+15"),
        (0x4338_f045_591e_9e37, "7.01958007964422e+15"),
        (0x433e_47b7_ecac_6b8d, "8.52310457662964e+15"),
        (0x4328_0e6e_4238_bbc6, "3.38563308063076e+15"),
        (0x4341_78bf_34ea_55cc, "9.83567445188086e+15"),
        (0x433a_76d8_55a4_348b, "7.44902091631528e+15"),
        (0x4341_1626_7800_319c, "9.61885816385618e+15"),
        (0x432c_dec1_2dab_cf22, "4.06311031209358e+15"),
        (0x4322_89fa_9631_732e, "2.60912946772214e+15"),
        (0x433e_cf9f_396c_b00d, "8.67253207149364e+15"),
        (0x4332_bafd_a7bd_7339, "5.2721481844949e+15"),
        (0x433c_4fc9_30ce_1859, "7.96902487373218e+15"),
        (0x432b_f69d_c9e7_bd72, "3.9354909644469e+15"),
        (0x4328_9f0c_a16e_94ce, "3.46513801892926e+15"),
        (0x4329_9720_3693_56be, "3.60151951406986e+15"),
        (0x4333_905b_75d8_6b33, "5.50674705104364e+15"),
        (0x4339_1bf0_4a84_ed69, "7.0675932740929e+15"),
        (0x432d_ed0a_e1ef_6dba, "4.21170266031484e+15"),
        (0x4328_a229_fbaa_eb2a, "3.46685032034856e+15"),
        (0x432d_3900_934f_a2ba, "4.112724479431e+15"),
        (0x4340_c6cf_30d4_6064, "9.44438561425018e+15"),
        (0x42fc_ea35_2748_c218, "508675835071522"),
        (0x42f8_aa12_a155_a718, "433899777120882"),
        (0x42f6_9a99_8146_0ac8, "397652098572460"),
        (0x42eb_5817_b260_ea50, "240521349105490"),
        (0x42f1_e88b_8098_3bd8, "315047528727486"),
        (0x42f7_5650_82b7_4fc8, "410551765923068"),
        (0x42f6_95d2_11fc_b4c8, "397323685317452"),
        (0x42fc_e16f_5c92_b0b8, "508072984914700"),
        (0x42fc_f762_a2fd_dd58, "509581397581270"),
        (0x42f5_034b_e070_9458, "369662433364294"),
        (0x42f4_d153_93ab_b8a8, "366228526513034"),
        (0x42fb_c5fa_c881_83c8, "488594079225916"),
        (0x42f4_c03b_5aa1_db08, "365053793148336"),
        (0x42f6_9ee1_647a_e9c8, "397946273640092"),
        (0x42ef_00fe_4fe5_0cd0, "272713016879206"),
        (0x42f8_76e8_c3ec_3998, "430383845786522"),
        (0x42fd_6a0f_1149_a418, "517461704481346"),
        (0x42fc_98dc_5620_bd98, "503085715819482"),
        (0x42fa_53e7_f884_c578, "463162822904920"),
        (0x42f0_62a4_555f_bfa8, "288253598366714"),
    ];

    /// What `debug(:v)` says of a text; errors behind an `E`.
    fn typed(text: &str) -> String {
        let mut names = Names::new();
        let slot = names.intern(b"v");
        let mut vars = Vars::new(&names);
        vars.set_text(slot, text.as_bytes());
        match vars.value(slot, &names) {
            Ok(Value::Null) => "null".to_owned(),
            Ok(value) => format!("{} {value}", value.type_name()),
            Err(error) => format!("E {error}"),
        }
    }

    /// Texts get the types and the errors that pgbench 18.6 gave them for `-D v=TEXT` and `debug(:v)`.
    #[test]
    fn variable_texts() {
        for (text, said) in TYPED.iter().copied() {
            assert_eq!(typed(text), said, "{text:?}");
        }
    }

    /// An empty text, which only a query can give, is an error without words.
    #[test]
    fn empty_text() {
        assert_eq!(typed(""), "E ");
        assert_eq!(RunError::EmptyVariable.closing_words(), "evaluation of meta-command failed");
    }

    /// `%.15g` gives what the C library gave for the same bits.
    #[test]
    fn double_texts() {
        for (bits, text) in WRITTEN.iter().copied() {
            assert_eq!(double_text(f64::from_bits(bits)), text, "{bits:#x}");
        }
        assert_eq!(double_text(f64::INFINITY), "Infinity");
        assert_eq!(double_text(f64::NEG_INFINITY), "-Infinity");
        assert_eq!(double_text(-f64::NAN), "NaN");
    }

    proptest! {
        /// The text of a double is within half a unit of its fifteenth digit,
        /// has no needless zeros, and reads back to the same text.
        #[test]
        fn double_text_is_close(value in any::<f64>()) {
            let text = double_text(value);
            prop_assert_eq!(double_text(text.replace("Infinity", "inf").parse().expect("a number")), text.clone());
            if value.is_finite() {
                let back: f64 = text.parse().expect("a number");
                prop_assert!((back - value).abs() <= value.abs() * 5.1e-15 || back.is_infinite());
                prop_assert!(!text.contains('.') || !text.split('e').next().is_some_and(|m| m.ends_with('0')));
            }
        }

        /// Decimal texts are read as Rust reads them, hexadecimal ones to the same bits that they were made from.
        #[test]
        fn strtod_round_trip(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let decimal = format!("{value:e}");
            let read = strtod(decimal.as_bytes()).expect("a number");
            prop_assert_eq!(read.value.to_bits(), bits);
            let (mantissa, exponent) = match (bits >> 52) & 0x7ff {
                0 => (bits & ((1 << 52) - 1), -1074),
                biased => ((bits & ((1 << 52) - 1)) | 1 << 52, biased as i64 - 1075),
            };
            let sign = if value.is_sign_negative() { "-" } else { "" };
            let hex = format!("{sign}0x{mantissa:x}p{exponent}");
            let read = strtod(hex.as_bytes()).expect("a number");
            prop_assert_eq!(read.value.to_bits(), bits);
            prop_assert!(!read.out_of_range);
        }

        /// No text makes the readers panic.
        #[test]
        fn any_text(text in proptest::collection::vec(any::<u8>(), 0..30)) {
            let _ = (classify(&text), strtod(&text), strtol(&text), atoi(&text));
        }

        /// Hexadecimal and decimal soup likewise.
        #[test]
        fn number_soup(text in "[-+ ]?(0x)?[0-9a-f.]{0,40}([ep][-+]?[0-9]{0,20})?") {
            let _ = (classify(text.as_bytes()), strtod(text.as_bytes()));
        }
    }
}
