import { utimesSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { logged } from '../testing/logged.ts';
import { textFile } from '../testing/text-file.ts';
import { rereadFile } from './reread-file.ts';

function watching(read: () => void) {
  vi.useFakeTimers();
  const path = textFile('old');
  const { log, lines } = logged();
  const close = rereadFile('KEYS_FILE', path, log, read);
  onTestFinished(() => {
    close();
    vi.useRealTimers();
  });
  /** Changes the file, and waits for several checks. */
  const change = () => {
    writeFileSync(path, 'new');
    utimesSync(path, 1, 1);
    vi.advanceTimersByTime(20_000);
  };
  return { change, messages: () => lines.map(({ msg }) => msg) };
}

test('a changed file is read once', () => {
  const read = vi.fn();
  const { change, messages } = watching(read);
  vi.advanceTimersByTime(20_000);
  expect(read).not.toHaveBeenCalled();
  change();
  expect(read).toHaveBeenCalledOnce();
  expect(messages()).toEqual(['KEYS_FILE was reread']);
});

test('an invalid file is reported once', () => {
  const { change, messages } = watching(() => {
    throw new Error('no key in line 1');
  });
  change();
  expect(messages()).toEqual(['KEYS_FILE changed and is invalid: the old content still applies']);
});
