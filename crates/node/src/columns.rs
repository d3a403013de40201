//! Results as typed arrays that the engine owns: one allocation and one copy, readable without a call per element.
//!
//! Engine-owned memory is transferable to workers and needs no finaliser; an external buffer would be neither. The copy
//! is written here because `copy_from` of the slices in napi 3.12 creates a buffer without copying into it.

use napi::bindgen_prelude::{ToNapiValue, TypeName, ValueType};
use napi::{check_status, sys};
use std::ptr;

/// An element of a typed array.
pub(crate) trait Element: Copy + 'static {
    const KIND: sys::napi_typedarray_type;
    const NAME: &'static str;
}

macro_rules! element {
    ($type:ty, $kind:ident, $name:literal) => {
        impl Element for $type {
            const KIND: sys::napi_typedarray_type = sys::TypedarrayType::$kind;
            const NAME: &'static str = $name;
        }
    };
}

element!(u8, uint8_array, "Uint8Array");
element!(u32, uint32_array, "Uint32Array");
element!(u64, biguint64_array, "BigUint64Array");
element!(f64, float64_array, "Float64Array");

/// A vector that becomes a typed array.
pub struct Column<T>(pub(crate) Vec<T>);

impl<T: Element> TypeName for Column<T> {
    fn type_name() -> &'static str {
        T::NAME
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl<T: Element> ToNapiValue for Column<T> {
    // SAFETY: the caller passes a live environment, as the trait demands.
    unsafe fn to_napi_value(env: sys::napi_env, val: Self) -> napi::Result<sys::napi_value> {
        let Self(elements) = val;
        let bytes = size_of_val(elements.as_slice());
        let (mut data, mut buffer, mut array) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: the three results are out-parameters of our own.
        check_status!(unsafe {
            sys::napi_create_arraybuffer(env, bytes, &raw mut data, &raw mut buffer)
        })?;
        if bytes > 0 {
            // SAFETY: `data` is a new buffer of `bytes` bytes, and `elements` has as many.
            unsafe { ptr::copy_nonoverlapping(elements.as_ptr().cast(), data.cast::<u8>(), bytes) };
        }
        // SAFETY: `buffer` holds exactly `elements.len()` elements of this kind from offset 0.
        check_status!(unsafe {
            sys::napi_create_typedarray(env, T::KIND, elements.len(), buffer, 0, &raw mut array)
        })?;
        Ok(array)
    }
}

/// One bit per row, the lowest bit of a byte first.
pub(crate) fn bitmap(bits: impl ExactSizeIterator<Item = bool>) -> Column<u8> {
    let mut bytes = vec![0; bits.len().div_ceil(8)];
    for (row, bit) in bits.enumerate() {
        bytes[row / 8] |= u8::from(bit) << (row % 8);
    }
    Column(bytes)
}
