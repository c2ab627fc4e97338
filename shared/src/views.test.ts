import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testFolder } from '../testing/text-file.ts';
import { views } from './views.ts';

async function rendering(template: string, onMissing?: (fault: Error) => void) {
  const folder = testFolder();
  await writeFile(join(folder, 'view.eta'), template);
  await writeFile(join(folder, 'part.eta'), '<b><%= it.part %></b>');
  const render = views<{ view: object }>(folder, onMissing);
  return (data: object) => render('view', data);
}

describe('A missing value', () => {
  test.each([
    ['escaped', '<p><%= it.name %></p>', {}, 'prints it.name, which is undefined.'],
    ['raw', '<p><%~ it.name %></p>', { name: null }, 'prints it.name, which is null.'],
    ['in a partial', "<%~ include('part') %>", {}, 'prints it.part, which is undefined.'],
  ])('throws: %s', async (_, template, data, message) => {
    const render = await rendering(template);
    expect(() => render(data)).toThrow(message);
  });

  test('calls onMissing and prints nothing', async () => {
    const faults: string[] = [];
    const render = await rendering('<p><%= it.name %>, <%~ it.raw %></p>', ({ message }) =>
      faults.push(message),
    );
    expect(render({})).toBe('<p>, </p>');
    expect(faults).toEqual([
      expect.stringContaining('prints it.name, which is undefined.'),
      expect.stringContaining('prints it.raw, which is undefined.'),
    ]);
  });
});

test('0, false and an empty string are not missing values', async () => {
  const render = await rendering('<%= it.zero %>|<%= it.empty %>|<%= it.no %>');
  expect(render({ zero: 0, empty: '', no: false })).toBe('0||false');
});

test('<%= escapes a value, <%~ does not', async () => {
  expect((await rendering('<%= it.text %> <%~ it.text %>'))({ text: '<&>' })).toBe('&lt;&amp;&gt; <&>');
});

test('a statement on its own line does not print a line break', async () => {
  const render = await rendering('<% if (it.word) { %>\n<%= it.word %>\n<time></time>\n<% } %>\n<hr>\n');
  expect(render({ word: 'added' })).toBe('added\n<time></time>\n<hr>\n');
});
