//! Numbers in seven bits a byte, the lowest first: small ones take one byte.

#[inline]
pub(crate) fn write(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The number that begins here, and what comes behind it. What is no number, which nobody wrote, is some number.
#[inline]
pub(crate) fn read(bytes: &[u8]) -> (u64, &[u8]) {
    match bytes.split_first() {
        Some((&byte, rest)) if byte < 0x80 => (byte.into(), rest),
        _ => long(bytes),
    }
}

fn long(bytes: &[u8]) -> (u64, &[u8]) {
    let (mut number, mut shift) = (0, 0);
    for (place, &byte) in bytes.iter().enumerate() {
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 || shift == 63 {
            return (number, &bytes[place + 1..]);
        }
        shift += 7;
    }
    (number, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(numbers in proptest::collection::vec((any::<u64>(), 0u32..64), 0..20)) {
            let mut bytes = Vec::new();
            for &(number, shift) in &numbers {
                let before = bytes.len();
                write(number >> shift, &mut bytes);
                prop_assert!(bytes.len() - before <= 10);
            }
            let mut rest = &bytes[..];
            for &(number, shift) in &numbers {
                let (got, behind) = read(rest);
                prop_assert_eq!(got, number >> shift);
                rest = behind;
            }
            prop_assert!(rest.is_empty());
        }
    }
}
