//! Words that are in no dictionary: the most likely tagging of a run of single characters as Begin, Middle, End or Single of a
//! word (Viterbi over a hidden Markov model with jieba's parameters).
//!
//! Every detail decides real documents and follows Python jieba 0.42.1: f64 throughout, `(value + transition) + emission` in
//! this order (a missing emission is −3.14e100 and absorbs the other terms, which makes true ties), and on a tie the
//! predecessor with the larger letter wins (B < E < M < S). Each state has two possible predecessors, so one bit per state
//! and character is all that the way back needs.

use std::sync::LazyLock;

use super::dictionary::{characters, codes};

/// States by letter, which is also the order in which ties are decided.
const B: usize = 0;
const E: usize = 1;
const M: usize = 2;
const S: usize = 3;

/// ln of the probability of a start or an emission that never happens, as jieba has it.
const NEVER: f64 = -3.14e100;
const START: [f64; 4] = [-0.262_686_608_092_500_16, NEVER, NEVER, -1.465_263_339_853_767_8];

/// For each state its two predecessors, the smaller letter first, each with the ln of the transition's probability.
const FROM: [[(usize, f64); 2]; 4] = [
    [(E, -0.589_714_973_685_451_3), (S, -0.721_196_566_546_984)],
    [(B, -0.510_825_623_765_99), (M, -0.333_448_568_119_485_14)],
    [(B, -0.916_290_731_874_155), (M, -1.260_362_382_026_822_6)],
    [(E, -0.808_525_047_466_993_7), (S, -0.665_863_144_879_821_2)],
];

/// ln of the probability that each state (B, E, M, S) emits the character, by its code.
///
/// Unpacked at first use, in less than a millisecond, from `data/jieba/hmm.bin`, which holds for each character that any
/// state emits its code point (2 bytes, little-endian), a byte whose bit `s` says that state `s` has a value, and the values
/// (8 bytes each): half the size.
pub(super) fn emissions() -> &'static [[f64; 4]] {
    static EMISSIONS: LazyLock<Vec<[f64; 4]>> = LazyLock::new(|| {
        let mut rest: &[u8] = include_bytes!("../../data/jieba/hmm.bin");
        let mut table = vec![[NEVER; 4]; characters().len()];
        while let Some(([low, high, states], values)) = rest.split_first_chunk() {
            rest = values;
            let row =
                &mut table[usize::from(codes()[usize::from(u16::from_le_bytes([*low, *high]))])];
            for state in (0..4).filter(|state| states >> state & 1 == 1) {
                let Some((value, values)) = rest.split_first_chunk() else { break };
                row[state] = f64::from_le_bytes(*value);
                rest = values;
            }
        }
        table
    });
    &EMISSIONS
}

/// Calls `word(len)` for the words of a run of ideographs, given by their codes, one after the other. `way` is scratch.
pub(super) fn cut(run: &[u16], way: &mut Vec<u8>, mut word: impl FnMut(usize)) {
    let rows = emissions();
    let emission = |&code: &u16| &rows[usize::from(code)];
    let (first, rest) = match run {
        [] => return,
        [_] => return word(1),
        // Half of all runs. Before a last E comes B or M, where no word ends; before a last S comes S or E.
        [first, second] => {
            let (values, _) = next(&start(emission(first)), emission(second));
            if last(&values) == E {
                return word(2);
            }
            word(1);
            return word(1);
        }
        [first, rest @ ..] => (first, rest),
    };
    let mut values = start(emission(first));
    way.clear();
    way.push(0);
    way.extend(rest.iter().map(|code| {
        let (later, bits) = next(&values, emission(code));
        values = later;
        bits
    }));
    let mut state = last(&values);
    // Backwards, each character's state replaces its bits.
    for bits in way.iter_mut().rev() {
        let larger = usize::from(*bits >> state & 1);
        *bits = state as u8;
        state = FROM[state][larger].0;
    }
    // A word ends at E and at S. Before a B comes E or S, so nothing is open there; only an M can be left open at the end.
    let mut len = 0;
    for &state in way.iter() {
        len += 1;
        if matches!(usize::from(state), E | S) {
            word(len);
            len = 0;
        }
    }
    if len > 0 {
        word(len);
    }
}

/// The values of the states at the first character.
#[inline]
fn start(emission: &[f64; 4]) -> [f64; 4] {
    std::array::from_fn(|state| START[state] + emission[state])
}

/// The values of the states at the next character, and a bit for each state (set: the predecessor with the larger letter).
#[inline]
fn next(values: &[f64; 4], emission: &[f64; 4]) -> ([f64; 4], u8) {
    let step = |state: usize| {
        let [(smaller, first), (larger, second)] = FROM[state];
        let smaller = values[smaller] + first + emission[state];
        let larger = values[larger] + second + emission[state];
        (if larger >= smaller { larger } else { smaller }, u8::from(larger >= smaller) << state)
    };
    let [(b, bit_b), (e, bit_e), (m, bit_m), (s, bit_s)] = [step(B), step(E), step(M), step(S)];
    ([b, e, m, s], bit_b | bit_e | bit_m | bit_s)
}

/// The state at the last character.
#[inline]
fn last(values: &[f64; 4]) -> usize {
    if values[S] >= values[E] { S } else { E }
}

#[cfg(test)]
mod tests {
    use super::super::dictionary::code;
    use super::*;

    #[test]
    fn emissions_are_those_of_jieba() {
        // From finalseg/prob_emit.py of jieba 0.42.1.
        let of = |c| emissions()[usize::from(code(c))].map(f64::to_bits);
        let one = [
            -3.654_497_875_044_943_3,
            -6.044_987_536_255_073,
            -4.428_158_526_435_913,
            -4.923_689_821_208_77,
        ];
        assert_eq!(of('一'), one.map(f64::to_bits));
        assert_eq!(of('龢'), [NEVER, NEVER, NEVER, -10.619_379_528_289_86].map(f64::to_bits));
        assert_eq!(of('龥'), [NEVER.to_bits(); 4]);
        assert_eq!(emissions().len(), characters().len());
        let values = emissions().iter().flatten().filter(|&&value| value > NEVER);
        assert_eq!(values.count(), 35_223);
    }
}
