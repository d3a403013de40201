/** Key of the native part of an object, for the other classes of this package. */
export const NATIVE: unique symbol = Symbol('native');
