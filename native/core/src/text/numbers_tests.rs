use proptest::prelude::*;

use super::*;

fn forms(text: &str) -> Vec<Vec<String>> {
    numbers(text).into_iter().map(|number| number.forms).collect()
}

#[test]
fn numbers_are_read_whatever_their_marks() {
    for (text, expected) in [
        ("1,234,567", vec!["1234567"]),
        ("€1,299.00 or", vec!["1299", "1299.00"]),
        ("3.918.277,45", vec!["3918277", "3918277.45"]),
        ("1 204 500 bricks", vec!["1204500"]),
        ("1\u{a0}204\u{202f}500,5", vec!["1204500", "1204500.5"]),
        ("1'204'500 1’204", vec!["1204500", "1204"]),
        ("12,34,567", vec!["1234567"]),
        ("1299,00", vec!["1299.00"]),
        ("in 2019 1 204 bricks", vec!["1204"]),
        ("٣٬٠٠٠٫٥, ١,٢٩٩", vec!["3000", "3000.5", "1299"]),
        ("3.14, 1.2.3, 2024-05-17, 17.05.2024, 10:30, 3rd, x1 234, XK-300 400", vec![]),
        ("1,2,3 and 1, 200", vec![]),
    ] {
        let found: Vec<String> = forms(text).concat();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_telephone_number_is_its_national_number() {
    for (number, ways) in [
        (
            "2079460018",
            vec![
                "+44 20 7946 0018",
                "+44 (0)20 7946 0018",
                "0044 20 7946-0018",
                "(020) 7946 0018",
                "020-7946-0018",
                "020.7946.0018",
                "02079460018",
                "+442079460018",
                "020 7946 0018 all day",
            ],
        ),
        ("3055570142", vec!["+49 30 5557 0142", "030/5557-0142", "030 55570142", "+49-30-55570142"]),
        ("2125550123", vec!["(212) 555-0123", "+1 212-555-0123", "1-212-555-0123", "212.555.0123", "212 555 0123"]),
        ("142685300", vec!["01 42 68 53 00", "+33 1 42 68 53 00"]),
        ("4111111111111111", vec!["4111 1111 1111 1111", "4111-1111-1111-1111"]),
    ] {
        for way in ways {
            let found = forms(&format!("call {way}"));
            assert_eq!(found.first().and_then(|forms| forms.first()).map(String::as_str), Some(number), "{way}");
        }
    }
}

#[test]
fn rows_of_a_table_are_no_numbers() {
    assert_eq!(forms(&"12 345 678 9012 ".repeat(5)), Vec::<Vec<String>>::new());
    assert_eq!(forms("0.5 0.25 0.125"), Vec::<Vec<String>>::new());
}

proptest! {
    #[test]
    fn numbers_lie_in_order_in_the_text_and_are_made_of_its_digits(text in "[0-9 .,'()/+a-]{0,40}|[0-9٣\u{a0}– ]{0,30}|\\PC{0,30}") {
        let mut last = 0;
        for Number { start, end, forms, .. } in numbers(&text) {
            prop_assert!(last <= start && start < end && !forms.is_empty());
            let digits: String = text[start..end].chars().filter_map(digit).map(|value| value.to_string()).collect();
            for form in forms {
                let mut rest = digits.chars();
                prop_assert!(form.chars().filter(|letter| *letter != '.').all(|letter| rest.any(|next| next == letter)), "{form}");
            }
            last = end;
        }
    }

    #[test]
    fn a_grouped_number_is_the_number(value in 1_000u64..1_000_000_000_000, mark in "[ ,.'\u{a0}\u{202f}]", decimals in "|[0-9]{2}") {
        let digits = value.to_string();
        let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
        let point = if mark == "." { "," } else { "." };
        let decimals = if decimals.is_empty() { String::new() } else { format!("{point}{decimals}") };
        prop_assert_eq!(&numbers(&format!("of {}{decimals} in", groups.join(&mark)))[0].forms[0], &digits);
    }
}
