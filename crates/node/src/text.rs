//! Text from JavaScript: strings as UTF-16, `Uint8Array` as bytes, fingerprints as numbers, copied into few arenas.
//!
//! The JavaScript thread only copies code units; turning them into UTF-8 is ten times dearer there than in Rust and is
//! left to the workers. An array may be a Proxy and its elements getters: user code can run at every element, so its
//! length is read once, no lock is held, and what it throws passes through.

use crate::error::Failure;
use crate::staging;
use napi::bindgen_prelude::{JsValue, Unknown};
use napi::{ValueType, sys};
use parking_lot::Mutex;
use simhash_text::intake;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

/// Code units (or bytes) per arena: beyond half a megabyte the copy waits for memory rather than for V8.
const ARENA: usize = 1 << 18;
/// Arenas kept for the next batch: a fresh one costs page faults, a quarter to nine tenths of the copy.
const SPARE: usize = 8;
/// Elements read per handle scope, so that a long array does not keep a handle alive for each.
const SCOPE: u32 = 256;

static SPARES: Mutex<Vec<Vec<u16>>> = Mutex::new(Vec::new());

/// Copied input of one call.
#[derive(Default)]
pub(crate) struct Texts {
    units: Vec<Vec<u16>>,
    bytes: Vec<Vec<u8>>,
    entries: Vec<Entry>,
}

enum Entry {
    Utf16 {
        arena: u32,
        start: usize,
        len: usize,
    },
    Utf8 {
        arena: u32,
        start: usize,
        len: usize,
    },
    Fingerprint(u64),
    /// The fingerprint of a text that has none.
    None,
    /// Positions of 32 bits, as the machine orders their bytes.
    Signature {
        arena: u32,
        start: usize,
        len: usize,
    },
}

/// One element of the input.
pub(crate) enum Given<'a> {
    Text(&'a str),
    Fingerprint(u64),
}

/// What an element may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accept {
    /// Strings alone: what comes back says where in the string.
    Strings,
    Texts,
    /// Texts, where an index of other options would take more.
    Documents,
    Items,
    Signatures,
}

impl Accept {
    const fn expected(self) -> &'static str {
        match self {
            Self::Strings => "a string",
            Self::Texts => "a string or a Uint8Array",
            Self::Documents => {
                "a string or a Uint8Array (or, with texts: false, a bigint for method 'simhash', a Uint32Array for 'minhash')"
            }
            Self::Items => "a string, a Uint8Array or a bigint",
            Self::Signatures => "a string, a Uint8Array or a Uint32Array",
        }
    }
}

/// Where an element stands, for messages.
struct Position<'a> {
    name: &'a str,
    index: Option<u32>,
}

impl std::fmt::Display for Position<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}[{index}]", self.name),
            None => f.write_str(self.name),
        }
    }
}

impl Texts {
    /// One argument.
    pub(crate) fn one(value: &Unknown<'_>, name: &str, accept: Accept) -> Result<Self, Failure> {
        let mut texts = Self::default();
        let raw = value.value();
        texts.push(raw.env, raw.value, &Position { name, index: None }, accept)?;
        Ok(texts)
    }

    /// The elements of an array, of a `BigUint64Array` where fingerprints are accepted, or what a [`staging`] has gathered.
    pub(crate) fn many(array: &Unknown<'_>, name: &str, accept: Accept) -> Result<Self, Failure> {
        let raw = array.value();
        if let Some(view) = typed_array(raw.env, raw.value)?.filter(|view| {
            view.kind == sys::TypedarrayType::biguint64_array && accept == Accept::Items
        }) {
            let mut texts = Self::default();
            texts.append_fingerprints(&view.copy(), |_| true);
            return Ok(texts);
        }
        if let Some(texts) = staging::taken(array) {
            return Ok(texts);
        }
        let mut texts = Self::default();
        texts.append(array, name, accept, 0)?;
        Ok(texts)
    }

    /// Copies the elements of an array behind those that are here; messages number them from `first`.
    pub(crate) fn append(
        &mut self,
        array: &Unknown<'_>,
        name: &str,
        accept: Accept,
        first: u32,
    ) -> Result<(), Failure> {
        let raw = array.value();
        let (env, array) = (raw.env, raw.value);
        let length = length(env, array, name)?;
        for start in (0..length).step_by(SCOPE as usize) {
            let mut scope = ptr::null_mut();
            // SAFETY: `env` is live; the scope is closed below on every path.
            status(unsafe { sys::napi_open_handle_scope(env, &raw mut scope) })?;
            let read = (start..length.min(start.saturating_add(SCOPE))).try_for_each(|index| {
                let position = Position { name, index: Some(first.saturating_add(index)) };
                self.element(env, array, index, &position, accept)
            });
            // SAFETY: the scope opened above, closed once. With an exception pending this still closes it.
            unsafe { sys::napi_close_handle_scope(env, scope) };
            read?;
        }
        Ok(())
    }

    /// Copies fingerprints behind the elements that are here. Those that `is_valid` denies, by their row, count as empty
    /// texts where they are 0: a batch of fingerprints has zeros for texts that have too few features.
    fn append_fingerprints(&mut self, bytes: &[u8], is_valid: impl Fn(usize) -> bool) {
        let (numbers, _) = bytes.as_chunks::<8>();
        let entries = numbers.iter().enumerate().map(|(row, &bytes)| {
            let value = u64::from_ne_bytes(bytes);
            if value != 0 || is_valid(row) { Entry::Fingerprint(value) } else { Entry::None }
        });
        self.entries.extend(entries);
    }

    /// Copies a `BigUint64Array` behind the elements that are here. Zeros whose bit in `valid`, a `Uint8Array`, is not set
    /// count as empty texts; bit `first` (the lowest of a byte first) is that of the first fingerprint. Without `valid`
    /// all are fingerprints.
    pub(crate) fn append_valid(
        &mut self,
        values: &Unknown<'_>,
        valid: Option<&Unknown<'_>>,
        first: usize,
    ) -> Result<(), Failure> {
        let values = elements(values, "values", sys::TypedarrayType::biguint64_array)?;
        let valid = valid.map(|valid| elements(valid, "valid", sys::TypedarrayType::uint8_array));
        let valid = valid.transpose()?;
        self.append_fingerprints(&values, |row| {
            let bit = first.saturating_add(row);
            let set =
                |valid: &Vec<u8>| valid.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
            valid.as_ref().is_none_or(set)
        });
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Code units and bytes copied.
    pub(crate) fn volume(&self) -> usize {
        let of = |entry: &Entry| match entry {
            Entry::Utf16 { len, .. } | Entry::Utf8 { len, .. } => *len,
            Entry::Fingerprint(_) | Entry::None | Entry::Signature { .. } => 0,
        };
        self.entries.iter().map(of).sum()
    }

    /// The element at `row` as text; malformed parts are U+FFFD, the same for strings and bytes.
    pub(crate) fn get<'a>(&'a self, row: usize, scratch: &'a mut String) -> Given<'a> {
        match self.entries[row] {
            Entry::Utf16 { arena, start, len } => {
                intake::utf16(&self.units[arena as usize][start..start + len], scratch);
                Given::Text(scratch)
            }
            Entry::Utf8 { arena, start, len } => {
                Given::Text(intake::utf8(&self.bytes[arena as usize][start..start + len], scratch))
            }
            Entry::Fingerprint(value) => Given::Fingerprint(value),
            // An empty text matches nothing. A signature is asked for by `signature` where it is accepted.
            Entry::None | Entry::Signature { .. } => Given::Text(""),
        }
    }

    /// The element at `row` where it is a signature.
    pub(crate) fn signature(&self, row: usize) -> Option<Vec<u32>> {
        let Entry::Signature { arena, start, len } = self.entries[row] else { return None };
        let (positions, _) = self.bytes[arena as usize][start..start + len].as_chunks::<4>();
        Some(positions.iter().map(|&bytes| u32::from_ne_bytes(bytes)).collect())
    }

    /// The bytes of the element at `row` as they came; none where it is no `Uint8Array`.
    pub(crate) fn bytes(&self, row: usize) -> &[u8] {
        match self.entries[row] {
            Entry::Utf8 { arena, start, len } => &self.bytes[arena as usize][start..start + len],
            _ => &[],
        }
    }

    fn element(
        &mut self,
        env: sys::napi_env,
        array: sys::napi_value,
        index: u32,
        position: &Position<'_>,
        accept: Accept,
    ) -> Result<(), Failure> {
        let mut value = ptr::null_mut();
        // SAFETY: `env` and `array` are live; a getter that throws is reported by the status.
        status(unsafe { sys::napi_get_element(env, array, index, &raw mut value) })?;
        self.push(env, value, position, accept)
    }

    fn push(
        &mut self,
        env: sys::napi_env,
        value: sys::napi_value,
        position: &Position<'_>,
        accept: Accept,
    ) -> Result<(), Failure> {
        let wrong = |got: &str| Failure::wrong_type(position, accept.expected(), got);
        match kind(env, value)? {
            ValueType::String => self.push_string(env, value, position),
            ValueType::BigInt if accept == Accept::Items => {
                self.entries.push(Entry::Fingerprint(fingerprint(env, value, position)?));
                Ok(())
            }
            ValueType::Object if accept != Accept::Strings => {
                let signature = |view: &View| {
                    accept == Accept::Signatures && view.kind == sys::TypedarrayType::uint32_array
                };
                let view = typed_array(env, value)?
                    .filter(|view| view.kind == sys::TypedarrayType::uint8_array || signature(view))
                    .ok_or_else(|| wrong("an object"))?;
                if view.detached {
                    return Err(wrong("a Uint8Array whose buffer is detached"));
                }
                let (arena, start, len) = self.push_bytes(&view);
                self.entries.push(if signature(&view) {
                    Entry::Signature { arena, start, len }
                } else {
                    Entry::Utf8 { arena, start, len }
                });
                Ok(())
            }
            other => Err(wrong(&other.to_string().to_lowercase())),
        }
    }

    fn push_string(
        &mut self,
        env: sys::napi_env,
        value: sys::napi_value,
        position: &Position<'_>,
    ) -> Result<(), Failure> {
        let mut len = 0;
        // SAFETY: without a buffer the call only counts code units.
        status(unsafe {
            sys::napi_get_value_string_utf16(env, value, ptr::null_mut(), 0, &raw mut len)
        })?;
        // The call writes a NUL behind the text.
        let room = len + 1;
        if self.units.last().is_none_or(|arena| arena.capacity() - arena.len() < room) {
            self.units.push(arena(room).ok_or_else(|| {
                Failure::new(
                    "ERR_SIMHASH_MEMORY",
                    format!("{position}: no memory for {len} code units"),
                )
            })?);
        }
        let number = self.units.len() - 1;
        let arena = &mut self.units[number];
        let start = arena.len();
        let mut written = 0;
        // SAFETY: at least `room` units of spare capacity lie behind `start`, as checked above.
        status(unsafe {
            let end = arena.as_mut_ptr().add(start);
            sys::napi_get_value_string_utf16(env, value, end, room, &raw mut written)
        })?;
        // SAFETY: the call has initialised `written <= len` units; the NUL is not counted.
        unsafe { arena.set_len(start + written) };
        self.entries.push(Entry::Utf16 { arena: number as u32, start, len: written });
        Ok(())
    }

    fn push_bytes(&mut self, view: &View) -> (u32, usize, usize) {
        if self.bytes.last().is_none_or(|arena| arena.capacity() - arena.len() < view.len) {
            self.bytes.push(Vec::with_capacity(ARENA.max(view.len)));
        }
        let number = self.bytes.len() - 1;
        let arena = &mut self.bytes[number];
        let start = arena.len();
        view.copy_to(arena);
        (number as u32, start, view.len)
    }
}

impl Drop for Texts {
    fn drop(&mut self) {
        // Of fingerprints and bytes there is nothing to keep.
        if self.units.is_empty() {
            return;
        }
        let mut spares = SPARES.lock();
        for mut arena in self.units.drain(..).filter(|arena| arena.capacity() == ARENA) {
            if spares.len() == SPARE {
                break;
            }
            arena.clear();
            spares.push(arena);
        }
    }
}

/// An arena for at least `room` units; `None` where memory ends.
fn arena(room: usize) -> Option<Vec<u16>> {
    if room <= ARENA
        && let Some(spare) = SPARES.lock().pop()
    {
        return Some(spare);
    }
    let mut arena = Vec::new();
    arena.try_reserve_exact(ARENA.max(room)).ok()?;
    Some(arena)
}

/// A fingerprint from a bigint, all 64 bits or an error.
fn fingerprint(
    env: sys::napi_env,
    value: sys::napi_value,
    position: &Position<'_>,
) -> Result<u64, Failure> {
    let (mut number, mut lossless) = (0, false);
    // SAFETY: both results are out-parameters of our own.
    status(unsafe {
        sys::napi_get_value_bigint_uint64(env, value, &raw mut number, &raw mut lossless)
    })?;
    if lossless {
        Ok(number)
    } else {
        Err(Failure::out_of_range(position, "from 0n to 2n ** 64n - 1n"))
    }
}

fn length(env: sys::napi_env, array: sys::napi_value, name: &str) -> Result<u32, Failure> {
    let (mut value, mut length) = (ptr::null_mut(), 0.0);
    // SAFETY: the name is a NUL-terminated literal; results are out-parameters of our own.
    status(unsafe {
        sys::napi_get_named_property(env, array, c"length".as_ptr(), &raw mut value)
    })?;
    // SAFETY: as above; a length that is no number is refused by the status.
    if unsafe { sys::napi_get_value_double(env, value, &raw mut length) } != sys::Status::napi_ok {
        return Err(Failure::wrong_type(name, "an array", "an object without a length"));
    }
    if !(0.0..=f64::from(u32::MAX)).contains(&length) {
        return Err(Failure::out_of_range(format!("{name}.length"), "from 0 to 2 ** 32 - 1"));
    }
    #[expect(clippy::cast_sign_loss, reason = "checked above")]
    Ok(length as u32)
}

fn kind(env: sys::napi_env, value: sys::napi_value) -> Result<ValueType, Failure> {
    let mut kind = 0;
    // SAFETY: the result is an out-parameter of our own.
    status(unsafe { sys::napi_typeof(env, value, &raw mut kind) })?;
    Ok(kind.into())
}

/// A typed array's bytes, valid until JavaScript runs again.
struct View {
    kind: sys::napi_typedarray_type,
    data: *const u8,
    /// In bytes.
    len: usize,
    shared: bool,
    detached: bool,
}

impl View {
    /// Appends the bytes to `out`.
    fn copy_to(&self, out: &mut Vec<u8>) {
        if self.len == 0 {
            return;
        }
        if self.shared {
            // SAFETY: `len` bytes live at `data`. Other threads may write them meanwhile, hence atomic loads.
            let cells =
                unsafe { std::slice::from_raw_parts(self.data.cast::<AtomicU8>(), self.len) };
            out.extend(cells.iter().map(|cell| cell.load(Ordering::Relaxed)));
        } else {
            // SAFETY: `len` bytes live at `data`, and only this thread could change them.
            out.extend_from_slice(unsafe { std::slice::from_raw_parts(self.data, self.len) });
        }
    }

    fn copy(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len);
        self.copy_to(&mut out);
        out
    }
}

/// Lends the elements of a `Float64Array`, to read or write them; `work` must not run any JavaScript.
pub(crate) fn with_doubles<T>(
    array: &Unknown<'_>,
    name: &str,
    work: impl FnOnce(&mut [f64]) -> T,
) -> Result<T, Failure> {
    let raw = array.value();
    let (mut kind, mut len, mut data) = (0, 0, ptr::null_mut());
    // SAFETY: `array` is live; what is no typed array is refused by the status; results are out-parameters of our own.
    let found = unsafe {
        sys::napi_get_typedarray_info(
            raw.env,
            raw.value,
            &raw mut kind,
            &raw mut len,
            &raw mut data,
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    if found != sys::Status::napi_ok || kind != sys::TypedarrayType::float64_array {
        return Err(Failure::wrong_type(name, "a Float64Array", "something else"));
    }
    if len == 0 || data.is_null() {
        return Ok(work(&mut []));
    }
    // SAFETY: `len` elements live at `data`, aligned as the engine aligns them, and nobody else has this memory while no
    // JavaScript runs: it belongs to one object of the typed layer, whose thread this is.
    Ok(work(unsafe { std::slice::from_raw_parts_mut(data.cast(), len) }))
}

/// The bytes of a typed array of a kind.
fn elements(
    array: &Unknown<'_>,
    name: &str,
    kind: sys::napi_typedarray_type,
) -> Result<Vec<u8>, Failure> {
    let raw = array.value();
    let view = typed_array(raw.env, raw.value)?.filter(|view| view.kind == kind);
    let view = view.ok_or_else(|| {
        let expected = "a typed array of the elements that it is for";
        Failure::wrong_type(name, expected, "something else")
    })?;
    Ok(view.copy())
}

fn typed_array(env: sys::napi_env, value: sys::napi_value) -> Result<Option<View>, Failure> {
    let mut is = false;
    // SAFETY: the result is an out-parameter of our own.
    status(unsafe { sys::napi_is_typedarray(env, value, &raw mut is) })?;
    if !is {
        return Ok(None);
    }
    let (mut kind, mut len, mut data, mut buffer, mut offset) =
        (0, 0, ptr::null_mut(), ptr::null_mut(), 0);
    // SAFETY: `value` is a typed array; results are out-parameters of our own.
    status(unsafe {
        sys::napi_get_typedarray_info(
            env,
            value,
            &raw mut kind,
            &raw mut len,
            &raw mut data,
            &raw mut buffer,
            &raw mut offset,
        )
    })?;
    let (mut owned, mut detached) = (false, false);
    // SAFETY: as above.
    status(unsafe { sys::napi_is_arraybuffer(env, buffer, &raw mut owned) })?;
    if owned {
        // SAFETY: as above.
        status(unsafe { sys::napi_is_detached_arraybuffer(env, buffer, &raw mut detached) })?;
    }
    let size = match kind {
        sys::TypedarrayType::biguint64_array => 8,
        sys::TypedarrayType::uint32_array => 4,
        _ => 1,
    };
    Ok(Some(View { kind, data: data.cast(), len: len * size, shared: !owned, detached }))
}

/// What the engine has refused; an exception that is pending stays it.
pub(crate) fn status(status: sys::napi_status) -> Result<(), Failure> {
    match status {
        sys::Status::napi_ok => Ok(()),
        sys::Status::napi_pending_exception => Err(Failure::pending()),
        other => Err(Failure::internal(format!("Node-API status {other}"))),
    }
}
