import { describe, expect, test } from 'vitest';
import { readTitle } from './task.ts';

describe('readTitle', () => {
  test.each([
    ['trims white space', '  milk\u3000\n', 'milk'],
    ['has a space for a tab, in every field', 'milk\t2 l', 'milk 2 l'],
    ['composes characters (NFC)', 'cafe\u0301', 'caf\u00e9'],
    ['accepts 500 code points outside the BMP', '😀'.repeat(500), '😀'.repeat(500)],
    ['accepts 500 code points after composition', 'ᾂ𖵪'.normalize('NFD').repeat(250), 'ᾂ𖵪'.repeat(250)],
    ['ignores surrounding white space in the length', `${' '.repeat(60_000)}milk`, 'milk'],
    ['accepts markup and quotes', `<b>"it's"</b>`, `<b>"it's"</b>`],
    ['accepts one visible character among invisible ones', '\u200b!\u0301', '\u200b!\u0301'],
    ['accepts private-use characters', '\ue000', '\ue000'],
    ['accepts right-to-left text and its marks', '\u202eabc\u200f', '\u202eabc\u200f'],
  ])('%s', (_rule, typed, title) => {
    expect(readTitle(typed)).toBe(title);
  });

  test.each([
    ['blank text', ' \t\n', /needs a title/],
    ['zero-width space', '\u200b', /visible/],
    ['word joiner', '\u2060', /visible/],
    ['Hangul filler', '\u3164', /visible/],
    ['blank Braille pattern', '\u2800', /visible/],
    ['soft hyphen', '\u00ad', /visible/],
    ['tags', '\u{e0041}\u{e007f}', /visible/],
    ['a noncharacter', '\ufffe', /visible/],
    ['combining marks only', '\u0301\u0308', /visible/],
    ['bidi controls only', '\u202e \u2066', /visible/],
    ['musical null notehead', '\u{1d159}', /visible/],
    ['501 code points', 'x'.repeat(501), /at most 500 characters; this one has 501/],
    ['a line break inside', 'a\nb', /one line/],
    ['NUL', 'a\0b', /one line/],
    ['C1 control', 'a\u0085b', /one line/],
    ['half a surrogate pair', 'a\ud800', /one line/],
  ])('refuses %s with the reason', (_rule, typed, reason) => {
    expect(() => readTitle(typed)).toThrow(reason);
  });
});
