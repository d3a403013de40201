//! Groups of texts that have a sentence in common.

use super::NativeIndex;
use super::batch::{Keys, Times, checked_key, time};
use crate::check::{number, whole};
use crate::columns::Column;
use crate::error::js;
use crate::held::NEVER;
use crate::task::Cancel;
use crate::text::{Accept, Texts};
use napi::Env;
use napi::bindgen_prelude::{Float64Array, Object, Unknown};
use napi_derive::napi;

#[napi]
impl NativeIndex {
    /// Adds one text; the name of its group.
    #[napi(catch_unwind)]
    pub fn similar_id(
        &self,
        env: Env,
        text: Unknown<'_>,
        at: Option<f64>,
        key: Option<String>,
    ) -> js::Result<f64> {
        let texts = Texts::one(&text, "text", Accept::Texts)?;
        self.held.single(env, |shared| {
            let at = time(at, &shared.live)?;
            let key = checked_key(key.as_deref(), &shared.live)?;
            Ok(number(shared.live.similar(&shared.document(&texts), key, at)?))
        })
    }

    /// The same for many texts, in order.
    #[napi(catch_unwind, ts_return_type = "Float64Array")]
    pub fn similar_id_many(
        &self,
        env: Env,
        texts: Unknown<'_>,
        at: Option<Float64Array>,
        keys: Option<Vec<Option<String>>>,
    ) -> js::Result<Column<f64>> {
        let (times, keys) = (Times::of(at)?, Keys::of(keys));
        let texts = Texts::many(&texts, "texts", Accept::Texts)?;
        let groups = self.held.batch(env, "similarIdManyAsync", |shared| {
            shared.similar_many(&texts, &times, &keys, &NEVER)
        })?;
        Ok(Column(groups))
    }

    /// The same on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<Float64Array>")]
    pub fn similar_id_many_async<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        at: Option<Float64Array>,
        keys: Option<Vec<Option<String>>>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (times, keys) = (Times::of(at)?, Keys::of(keys));
        let texts = Texts::many(&texts, "texts", Accept::Texts)?;
        self.held.start_batch(env, cancel, move |shared, flag| {
            shared.similar_many(&texts, &times, &keys, flag).map(Column)
        })
    }

    /// The name of a document's group.
    #[napi(catch_unwind)]
    pub fn group(&self, id: f64) -> js::Result<Option<f64>> {
        let id = whole(id, "id")?;
        self.held.look(|shared| Ok(shared.live.group(id).map(number)))
    }
}
