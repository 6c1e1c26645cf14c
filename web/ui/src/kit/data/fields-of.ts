type Names<U> = U extends unknown ? keyof U : never;
type Value<U, N extends PropertyKey> = U extends unknown ? (N extends keyof U ? U[N] : never) : never;

/** All fields of the members of a union, of which each member has some. */
export type FieldsOf<U> = { [N in Names<U>]?: Value<U, N> | undefined };
