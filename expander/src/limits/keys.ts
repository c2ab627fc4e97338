import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Log } from '@longhand/shared/log.ts';
import { rereadFile } from '@longhand/shared/reread-file.ts';
import type { Counter } from 'prom-client';
import { ExpansionError } from '../expansion/errors.ts';
import { keyedClient } from '../expansion/expansion.ts';
import { charge, type Rate, readRate, type Take } from './rate.ts';

interface Key {
  /** For logs and metrics. */
  name: string;
  /** Replaces all other rate limits. */
  rate: Rate;
}

const form =
  'NAME KEY RATE: a name (a-z, 0-9, -), a key (16 or more of A-Z, a-z, 0-9, -, _) and a rate such as 10r/s';

/** Rate limit per address for requests with unknown keys. */
const unknownRate: Rate = { count: 60, period: 60_000 };

/**
 * Reads a key from each line: `NAME KEY RATE`. Skips blank lines and comments (`#`).
 *
 * @returns the keys by digest, and a message for each invalid line. Messages contain no keys.
 */
export function readKeys(text: string): { keys: Map<string, Key>; faults: string[] } {
  const keys = new Map<string, Key>();
  const names = new Set<string>();
  const faults: string[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, name = '', secret = '', rateText = ''] =
      /^\s*([a-z0-9][a-z0-9-]{0,63})\s+([\w-]{16,})\s+(\S+)\s*$/.exec(line) ?? [];
    const rate = readRate(rateText);
    if (!rate) faults.push(`line ${i + 1} is not ${form}`);
    else if (names.has(name) || keys.has(digest(secret))) {
      faults.push(`line ${i + 1} repeats another line's name or key`);
    } else {
      names.add(name);
      keys.set(digest(secret), { name, rate });
    }
  }
  return { keys, faults };
}

/** Hashes a key, so that lookup times reveal nothing about valid keys. */
const digest = (secret: string) => hash('sha256', secret);

/**
 * Reads the keys from the file at `path` now and after each change, and logs invalid lines.
 *
 * @param requests counts requests by key name; `-` is an unknown key.
 */
export function watchKeys(
  path: string,
  take: Take,
  log: Pick<Log, 'info' | 'error'>,
  requests: Pick<Counter, 'inc'>,
) {
  let keys: ReadonlyMap<string, Key> = new Map();
  const read = () => {
    const found = readKeys(readFileSync(path, 'utf8'));
    for (const fault of found.faults) log.error(`EXPANDER_KEYS_FILE: ${fault}`);
    keys = found.keys;
  };
  read();
  return {
    /**
     * Charges a request from `address` to a key.
     *
     * @param onName receives the key's name before the rate is checked.
     * @returns the key's name.
     * @throws ExpansionError `unknown_key`, or `rate_limited` if the key's rate or the rate for unknown keys is exceeded.
     */
    async charge(secret: string, address: string, onName: (name: string) => void): Promise<string> {
      const key = keys.get(digest(secret));
      requests.inc({ key: key?.name ?? '-' });
      if (key) {
        onName(key.name);
        await charge(take, keyedClient(key.name), key.rate, 'requests with this key');
        return key.name;
      }
      await charge(take, `unknown key ${address}`, unknownRate, 'unknown keys from your address');
      throw new ExpansionError('unknown_key', 'This key is not valid.');
    },
    close: rereadFile('EXPANDER_KEYS_FILE', path, log, read),
  };
}
