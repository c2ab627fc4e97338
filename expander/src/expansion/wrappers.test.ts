import { describe, expect, test } from 'vitest';
import { unwrap } from './wrappers.ts';

const b64 = (text: string) => Buffer.from(text).toString('base64url');

const target = 'https://example.com/a?b=c&d=e#f';
const encoded = encodeURIComponent(target);

describe('extracts the target of a wrapper', () => {
  const [outlook, proofpoint] = ['Outlook Safe Links', 'Proofpoint URL Defense'];
  const safe = 'https://nam02.safelinks.protection.outlook.com';
  const short = 'https://example.com/a';
  test.each([
    [outlook, `${safe}/?url=${encoded}&data=05%7C02&sdata=x&reserved=0`, target],
    [outlook, `${safe}/?data=05%7C02&amp;url=${encoded}&amp;sdata=x`, target],
    [
      'Teams Safe Links',
      `https://statics.teams.cdn.office.net/evergreen-assets/safelinks/1/atp-safelinks.html?url=${encoded}&locale=en-us&dest=x`,
      target,
    ],
    [proofpoint, `https://urldefense.proofpoint.com/v1/url?u=${encoded}&k=x`, target],
    [
      proofpoint,
      `https://urldefense.proofpoint.com/v1/url?u=${encodeURIComponent(`${short}?b&amp;c`)}`,
      `${short}?b&c`,
    ],
    [
      proofpoint,
      'https://urldefense.proofpoint.com/v2/url?u=https-3A__example.com_a-3Fb-26amp-3Bc&d=x',
      `${short}?b&c`,
    ],
    [
      proofpoint,
      'https://urldefense.proofpoint.com/v2/url?u=https-3A__example.com_a-3Fb-2Dc&d=x',
      `${short}?b-c`,
    ],
    [proofpoint, `https://urldefense.com/v3/__${short}__;!!Abc!def$`, short],
    // The asterisks replace "?" and "#".
    [proofpoint, `https://urldefense.com/v3/__${short}*b=c*f__;${b64('?#')}!!Abc!def$`, `${short}?b=c#f`],
    // "**B" replaces a run of three characters.
    [
      proofpoint,
      `https://urldefense.us/v3/__https:/example.com/a**Bx*__;${b64('äöü!')}!!Abc`,
      `${short}äöüx!`,
    ],
    ['Google', `https://www.google.com/url?sa=t&url=${encoded}&usg=x`, target],
    ['Google', `https://www.google.co.uk/url?q=${encoded}`, target],
    ['Google', `https://google.cat/url?sa=t&q=&url=${encoded}`, target],
    ['Google', `https://www.google.com/url?q=weather&url=${encoded}`, target],
    ['Google', `https://www.google.com/url?q=https://a.example/&url=${encoded}`, target],
    ['Threads', `https://l.threads.com/?u=${encoded}&e=AT0`, target],
    ['Threads', `https://l.threads.net/?u=${encoded}&e=AT0`, target],
    ['Facebook', `https://l.facebook.com/l.php?u=${encoded}&h=AT0`, target],
    ['Facebook', `https://lm.facebook.com/l.php?u=${encoded}&h=AT0`, target],
    ['Instagram', `https://l.instagram.com/?u=${encoded}&e=AT0`, target],
  ])('%s: %s', (wrapper, url, expected) => {
    expect(unwrap(new URL(url))).toEqual({ wrapper, target: expected });
  });
});

test.each([
  'https://example.com/?url=https://example.org/',
  'https://safelinks.protection.outlook.com.evil.example/?url=https://example.org/',
  'https://nam02.safelinks.protection.outlook.com/?data=x',
  'https://statics.teams.cdn.office.net/x?url=https://example.org/',
  'https://www.google.com/search?q=https://example.org/',
  'https://www.google.com/url?q=weather',
  'https://google.evil.example/url?q=https://example.org/',
  'https://www.google.xyz/url?q=https://example.org/',
  'https://www.facebook.com/someone?u=https://example.org/',
  'https://l.facebook.com/l.php?u=javascript:alert(1)',
  'https://l.facebook.com/l.php?u=/relative',
  `https://l.facebook.com/l.php?u=http://${'a'.repeat(254)}/`,
  'https://urldefense.com/v3/__https://example.org/',
  'https://urldefense.com/v3/__%ff__;!!x',
  'https://urldefense.proofpoint.com/v2/url?u=https-3A__-zz&d=x',
  'https://urldefense.com/v4/__https://example.org/__;!!x',
])('%s is not a wrapper', (url) => {
  expect(unwrap(new URL(url))).toBeNull();
});
