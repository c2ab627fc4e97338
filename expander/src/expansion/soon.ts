/** Goes on with `value`: at once where it is there already, without a promise and the turn it takes. */
export function soon<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
