import { openSync, readFileSync, writeSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { textFile } from '@longhand/shared/testing/text-file.ts';
import { expect, test } from 'vitest';
import { appendLine, boundLog, forEachLine } from './log.ts';

test('a full disk loses log lines but does not stop the stack', () => {
  expect(() => appendLine(openSync('/dev/full', 'a'), 'tasks', '{}')).not.toThrow();
});

test('an oversized log is rotated while writers keep it open', () => {
  const file = textFile('');
  const former = textFile('older');
  const [ours, nginx] = [openSync(file, 'a'), openSync(file, 'a')];
  appendLine(ours, 'tasks', '{"n":1}');
  boundLog(file, former, 100);
  expect(readFileSync(former, 'utf8')).toBe('older');
  writeSync(nginx, '{"n":2}\n');
  boundLog(file, former, 16);
  writeSync(nginx, '{"n":3}\n');
  appendLine(ours, 'tasks', '{"n":4}');
  expect(readFileSync(former, 'utf8')).toBe('{"n":1}\n{"n":2}\n');
  expect(readFileSync(file, 'utf8')).toBe('{"n":3}\n{"n":4}\n');
});

test('output is split only at line feeds, even if it arrives byte by byte', async () => {
  const output = new PassThrough();
  const lines: string[] = [];
  forEachLine(output, (line) => lines.push(line));
  for (const byte of Buffer.from('a\u2028b\rc\né\nlast')) output.write(Buffer.of(byte));
  output.end();
  await new Promise((resolve) => output.on('close', resolve));
  expect(lines).toEqual(['a\u2028b\rc', 'é', 'last']);
});
