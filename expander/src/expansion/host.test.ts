import { describe, expect, test } from 'vitest';
import { describeHost, nameInSubdomain, readableHost } from './host.ts';

const host = (name: string) => describeHost(new URL(`http://${name}/`));

describe('a host in Punycode', () => {
  test.each([
    ['xn--bcher-kva.example', 'bücher.example'],
    ['www.xn--e1afmkfd.xn--p1ai', 'www.пример.рф'],
    ['xn--ls8h.example', '💩.example'],
    ['日本語.example', '日本語.example'],
  ])('is converted to Unicode: %s', (name, unicodeHost) => {
    expect(host(name)).toEqual({ unicodeHost, mixedScripts: [], imitates: null });
  });
});

test.each(['example.com', 'xn--a.example', 'xn.example', '127.0.0.1', '[2001:db8::1]'])(
  'a host without valid Punycode is not converted: %s',
  (name) => {
    expect(host(name)).toEqual({ unicodeHost: null, mixedScripts: [], imitates: null });
  },
);

describe('a host mixes scripts', () => {
  test.each([
    ['аpple.example', ['Cyrillic', 'Latin']],
    ['www.pаypal.example', ['Cyrillic', 'Latin']],
    ['gοοgle.example', ['Greek', 'Latin']],
    ['арр𐌋е.example', ['Cyrillic', 'Other']],
    ['яндекс한국.example', ['Cyrillic', 'Hangul']],
  ])('if one of its labels mixes scripts: %s', (name, mixedScripts) => {
    expect(host(name).mixedScripts).toEqual(mixedScripts);
  });

  test.each([
    ['each label uses one script', 'пример.example'],
    ['it uses the four scripts of Japanese', '東京タワーのLED.example'],
    ['it uses the three scripts of Korean', '한국韓國kr.example'],
    ['it uses the scripts of Chinese and Bopomofo', '中文ㄅabc.example'],
    ['it has accents and digits', 'café-2.example'],
    ['it has a mark that several scripts share', 'タワー.example'],
    ['its only script is rare', 'ᏣᎳᎩ.example'],
  ])('but not if %s: %s', (_, name) => {
    expect(host(name).mixedScripts).toEqual([]);
  });
});

describe('a host imitates another host', () => {
  test.each([
    ['xn--80ak6aa92e.com', 'apple.com'],
    ['www.xn--80ak6aa92e.com', 'www.apple.com'],
    ['ехсеӏ-2.example', 'excel-2.example'],
    ['ραγραι.example', 'paypai.example'],
    ['աոո.example', 'wnn.example'],
    ['оса.gr', 'oca.gr'],
    ['аррӏе.рус.com', 'apple.pyc.com'],
  ])('if all letters of a label look Latin: %s', (name, imitates) => {
    expect(host(name)).toMatchObject({ imitates, mixedScripts: [] });
  });

  test.each([
    ['a letter has no Latin lookalike', 'привет.example'],
    ['a letter has an accent', 'αγορά.example'],
    ['its letters are Latin', 'bücher.example'],
    ['its letters are ASCII', 'apple.com'],
    ['a label mixes scripts', 'аpple.com'],
    ['its top-level domain is in the same script', 'хаос.рф'],
    ['its top-level domain also looks Latin', 'www.оса.рус'],
    ['the country of its top-level domain uses the script', 'оса.su'],
    ['the country of its two-label suffix uses the script', 'роса.com.ua'],
    ['the Latin name would start with a hyphen', '-оса.com'],
    ['its top-level domain does not allow Latin names', 'ραγραι.рф'],
  ])('but not if %s: %s', (_, name) => {
    expect(host(name).imitates).toBeNull();
  });
});

describe('a host starts with the domain of another website', () => {
  test.each([
    ['www.paypal.com.secure-login.example', 'paypal.com'],
    ['www.paypal.com.account.verification.login.example', 'paypal.com'],
    ['bank.org.evil.co.uk', 'bank.org'],
    ['login.bank.co.uk.evil.com', 'bank.co.uk'],
    ['shop.com.au.evil.github.io', 'shop.com.au'],
    ['paypal.com.evil.example.', 'paypal.com'],
    ['www.amazon.de.evil.example', 'amazon.de'],
    ['www.amazon.de.account.evil.example', 'amazon.de'],
  ])('%s: %s', (name, other) => {
    expect(nameInSubdomain(new URL(`http://${name}/`))).toBe(other);
  });

  test.each([
    ...['example.com', 'www.example.co.uk', 'a.b.example.com', 'www.com.example', 'com.example'],
    ...['www.net.org.example', 'www.shop.app.example.com', 'www.example.com.example.com'],
    ...['docs.de.example.com', 'www.de.example.com', 'www.m.de.example.com', 'www.en.us.example.com'],
    ...['bucket.s3.amazonaws.com', 'www.example.com.s3.amazonaws.com', 'ec2-1-2-3-4.compute-1.amazonaws.com'],
    ...['person.github.io', '10.0.0.1', '[2001:db8::1]', 'localhost', 'xn--80ak6aa92e.com'],
  ])('but not in %s', (name) => {
    expect(nameInSubdomain(new URL(`http://${name}/`))).toBeNull();
  });
});

describe('a host in Unicode is shown as written', () => {
  const readable = (host: string) => readableHost(new URL(`http://${host}/`));

  test.each([
    'müller.de',
    'łódź.pl',
    'straße.de',
    'ايران.ir',
    'хаос.рф',
    '日本語.jp',
    'việtnam.vn',
    '例え.テスト',
  ])('if people can read it and it imitates nobody: %s', (host) => expect(readable(host)).toBe(host));

  test.each([
    ['is in ASCII', 'example.com'],
    ['mixes scripts', 'аpple.example'],
    ['imitates another', 'аррӏе.com'],
    ['has a letter that looks like ASCII', 'paypaɩ.com'],
    ['has a dotless i', 'paypaı.com'],
    ['has a dot below a letter', 'ạpple.com'],
    ['is in a rare script', 'ᏚᎳᎠ.com'],
  ])('but not if it %s: %s', (_, host) => expect(readable(host)).toBeNull());
});
