import { describe, expect, test } from 'vitest';
import { findMarker, readItem } from './list-markers.ts';

/** Returns the titles of a pasted list. */
function titles(...lines: string[]) {
  const marker = findMarker(lines.join('\n'));
  return lines.map((line) => readItem(line, marker).title.trim());
}

describe('A line that begins with a date or a number keeps it:', () => {
  test.each([
    [['3. Oktober: Feiertag']],
    [['12. Mai Zahnarzt', '13. Mai Friseur']],
    [['100. Geburtstag Oma']],
    [['1. Mai: Feiertag']],
    [['1. Mai', '1. August']],
    [['3) Amigos', '4) Tacos']],
    [['+ 5 % Aufschlag', '+ 3 % Rabatt']],
    [['2026. A year', '-5 degrees', '1.5 l']],
    [['milk', '- 2 €']],
    [['- milk', '* bread']],
  ])('%j', (lines) => {
    expect(titles(...lines)).toEqual(lines);
  });
});

test.each([
  ['its lines count up from 1', ['1. milk', '2. bread', '', '3. 2 eggs'], ['milk', 'bread', '', '2 eggs']],
  ['its last number has no title', ['1. milk', '2. bread', '3. '], ['milk', 'bread', '']],
  ['its lines count up from 1 with )', ['1) milk', '\t2)  bread'], ['milk', 'bread']],
  [
    'all lines have the same bullet',
    ['- milk', '  - bread', '-', '- 3. Oktober'],
    ['milk', 'bread', '', '3. Oktober'],
  ],
  ['all lines have +', ['+ milk', '+ bread'], ['milk', 'bread']],
  ['its only line has a bullet', ['* milk'], ['milk']],
])('A pasted list loses its markers if %s', (_, lines, expected) => {
  expect(titles(...lines)).toEqual(expected);
});

test.each(['☐', '[ ]', '- [x] ', '•'])('An empty item %j has no title', (line) => {
  expect(titles('milk', line)).toEqual(['milk', '']);
});

test('A byte order mark does not hide a marker', () => {
  expect(findMarker('\ufeff- milk\n- bread')).toEqual(findMarker('- milk'));
});

test.each([
  ['[ ] milk', 0],
  ['- [x] milk', 1],
  ['2. [X] milk', 1],
  ['☐ milk', 0],
  ['☑ milk', 1],
  ['✔ milk', 1],
  ['✔️ milk', 1],
  ['◯ milk', 0],
  ['◦ milk', 0],
  ['⁃ milk', 0],
  ['· milk', 0],
  ['• milk', 0],
] as const)('The check box or bullet of %j is recognized beside lines without one', (line, finished) => {
  expect(readItem(line, undefined)).toEqual({ title: 'milk', finished });
});
