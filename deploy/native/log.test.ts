import { openSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { appendLine, forEachLine } from './log.ts';

test('a full disk costs lines, and does not end the stack', () => {
  expect(() => appendLine(openSync('/dev/full', 'a'), 'tasks', '{}')).not.toThrow();
});

test('a line of output ends at a line feed only, wherever the output is cut', async () => {
  const output = new PassThrough();
  const lines: string[] = [];
  forEachLine(output, (line) => lines.push(line));
  const bytes = Buffer.from('a\u2028b\rc\né\nlast');
  for (const byte of bytes) output.write(Buffer.of(byte));
  output.end();
  await new Promise((resolve) => output.on('close', resolve));
  expect(lines).toEqual(['a\u2028b\rc', 'é', 'last']);
});
