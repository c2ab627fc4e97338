import { describe, test } from 'vitest';

/**
 * Returns `describe`, or, if something is missing, a function that declares one skipped test in place of the suite.
 *
 * @param missing the reason, such as `needs k6`, or false if nothing is missing.
 */
export function describeUnless(missing: string | false): typeof describe {
  return missing === false ? describe : (skipped(missing) as typeof describe);
}

/** Returns `test`, or, if something is missing, a function that declares a skipped test with this reason. */
export function testUnless(missing: string | false): typeof test {
  return missing === false ? test : (skipped(missing) as typeof test);
}

function skipped(reason: string): unknown {
  return (name: string) => test(name, (context) => context.skip(reason));
}
