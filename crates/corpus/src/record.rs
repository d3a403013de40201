//! What a record says, whatever its format.

use std::borrow::Cow;

/// A record, taken apart.
#[derive(Debug, PartialEq)]
pub struct Record<'a> {
    /// Borrowed from the bytes of the record where it stands there as it is.
    pub text: Cow<'a, str>,
    /// The id as JSON: a string with its quotes, or a number, as it was written. `None`: the record has none.
    pub id: Option<Cow<'a, str>>,
    /// The value of the ranking field, where one was asked for.
    pub key: Rank<'a>,
}

/// The value of a field by which documents are ranked.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Rank<'a> {
    /// The record does not say.
    #[default]
    Missing,
    /// A number as JSON writes it.
    Number(Cow<'a, str>),
    /// A text.
    Text(Cow<'a, str>),
}

impl Record<'_> {
    /// The same with parts of its own.
    pub(crate) fn into_owned(self) -> Record<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let key = match self.key {
            Rank::Missing => Rank::Missing,
            Rank::Number(number) => Rank::Number(owned(number)),
            Rank::Text(text) => Rank::Text(owned(text)),
        };
        Record { text: owned(self.text), id: self.id.map(owned), key }
    }
}
