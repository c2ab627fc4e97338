import { describe, expect, test } from 'vitest';
import { ordinaryLinks } from '../../testing/ordinary-links.ts';
import { readPage, scriptedApp, to, type Web } from '../../testing/scripted-web.ts';
import type { HopResponse } from '../expansion/expansion.ts';

const short = 'http://sho.rt/x';

interface Verdict {
  end: { code: string; target?: string };
  reason: string;
  warning: string | null;
}

/** Returns the page's result and the verdicts of the API for a short URL that leads to `url`. */
async function visit(url: string, response: Partial<HopResponse> = {}) {
  const web: Web = { [short]: to(url) };
  if (/^https?:/.test(url) && URL.canParse(url)) web[new URL(url).href] = response;
  const app = scriptedApp(web);
  const { result, html } = await readPage(app, short);
  const parameters = { u: short, follow: 'all', format: 'json' };
  const get = (path: string) => app.request(`${path}?${new URLSearchParams(parameters)}`);
  const list = await app.request('/api/expand?follow=all', { method: 'POST', body: short });
  const read = async (body: Response) => {
    const { end, reason, warning } = JSON.parse(await body.text()) as Verdict;
    return { end, reason, warning };
  };
  const [verdict, ...others] = await Promise.all(
    [await get('/api'), await get('/api/chain'), list].map(read),
  );
  for (const other of others) expect(other).toEqual(verdict);
  return { result, html, ...(verdict as Verdict) };
}

const file = (name: string, saved?: true) => ({ file: { name, size: 4_800_000, ...(saved && { saved }) } });

describe('a name that is only painted on is red, and struck out', () => {
  test.each([
    ['https://dhl.com.paket-zustellung.top/de/verfolgen?id=8837201', 'dhl.com', 'paket-zustellung.top'],
    ['https://login.microsoftonline.com.secure-login.info/x', 'microsoftonline.com', 'secure-login.info'],
    ['https://www.amazon.co.uk.orders.example/', 'amazon.co.uk', 'orders.example'],
    ['https://www.sparkasse.de.konto.example/', 'sparkasse.de', 'konto.example'],
  ])('%s', async (url, name, site) => {
    const { result, html, warning, reason } = await visit(url, { title: 'Log in' });
    expect(result).toMatch(new RegExp(`^Beware This is not ${name}\\. ?It leads to ${site} https://`));
    expect(result).toContain(
      `If you want ${name}, type ${name} yourself. The page calls itself “Log in”. Open anyway`,
    );
    expect(html).toContain('data-label="Copy as a warning"');
    expect(html).toContain(`data-announcement="Beware. This is not ${name}. It leads to ${site}`);
    expect(html).toContain(`<s>${new URL(url).hostname.slice(0, -site.length)}</s>`);
    expect({ warning, reason }).toEqual({
      warning: 'subdomain',
      reason: `This is not ${name}. It leads to ${site}`,
    });
  });

  test.each([
    [
      'a university library, whose proxy names the publisher',
      'https://www.jstor.org.ezproxy.princeton.edu/stable/1',
    ],
    ['the same below .ac.uk', 'https://www.nature.com.ezproxy.lib.gla.ac.uk/articles/1'],
    ['the languages of a website', 'https://www.de.example.org/'],
    ['a shop below a national domain', 'https://www.ebay.com.au/itm/1'],
  ])('but not %s', async (_, url) => {
    expect((await visit(url)).warning).toBe(null);
  });

  test('even if the website does not respond', async () => {
    expect(await visit('https://dhl.com.gone.example/', { status: 404 })).toMatchObject({
      warning: 'subdomain',
    });
  });
});

describe('a place where anyone can publish is amber', () => {
  test.each([
    ['https://sites.google.com/view/paypal-secure-login/home', 'sites.google.com', 'Google'],
    ['https://docs.google.com/forms/d/e/1FAIpQL/viewform', 'docs.google.com', 'Google'],
    ['https://docs.google.com/document/d/1a/edit', 'docs.google.com', 'Google'],
    ['https://script.google.com/macros/s/AK/exec', 'script.google.com', 'Google'],
    ['https://drive.google.com/file/d/1a/view', 'drive.google.com', 'Google'],
    ['https://contoso-my.sharepoint.com/:f:/g/personal/a', 'contoso-my.sharepoint.com', 'Microsoft'],
    ['https://forms.office.com/r/AbCdEf', 'forms.office.com', 'Microsoft'],
    ['https://www.dropbox.com/scl/fi/abc/a?rlkey=1', 'dropbox.com', 'Dropbox'],
    ['https://t.me/somechannel', 't.me', 'Telegram'],
    ['https://linktr.ee/somebody', 'linktr.ee', 'Linktree'],
    ['https://www-paypal-com.translate.goog/signin', 'www-paypal-com.translate.goog', 'translate.goog'],
    ['https://paypal-login.github.io/', 'paypal-login.github.io', 'github.io'],
    ['https://bank-login.web.app/', 'bank-login.web.app', 'web.app'],
    ['https://dhl.blogspot.com/', 'dhl.blogspot.com', 'blogspot.com'],
  ])('%s', async (url, site, provider) => {
    const { result, html, warning, reason } = await visit(url, {
      title: 'PayPal: Log in',
      scriptRedirect: true,
    });
    const verdict = `It leads to a page that somebody made at ${site}`;
    expect(result.startsWith(`Anyone can publish here ${verdict} https://`)).toBe(true);
    expect(result).toContain(`${provider} only provides the space. Never type a password into such a page.`);
    expect(html).toContain('class="amber"');
    expect({ warning, reason }).toEqual({ warning: 'anyone', reason: verdict });
  });

  test('a file there is told as a file', async () => {
    const { result } = await visit('https://cdn.discordapp.com/attachments/9/8/a.pdf', file('a.pdf'));
    expect(result).toMatch(
      /^Anyone can publish here It leads to a file that somebody put at cdn\.discordapp\.com/,
    );
  });

  test.each([
    'https://www.dropbox.com/login',
    'https://docs.google.com/',
    'https://www.github.io/',
    'https://www.register.service.gov.uk/',
    'https://gov.spb.ru/',
    'https://www.krakow.pl/',
    'https://shop.uk.com/',
    'https://grow.withgoogle.com/',
  ])('but not %s', async (url) => {
    expect((await visit(url)).warning).toBe(null);
  });
});

describe('a program is red, whatever its name looks like', () => {
  test.each([
    ...[
      'setup.exe',
      'a.msi',
      'a.scr',
      'a.bat',
      'a.cmd',
      'a.com',
      'a.js',
      'a.vbs',
      'a.wsf',
      'a.ps1',
      'a.jar',
      'a.apk',
    ],
    ...[
      'a.dmg',
      'a.pkg',
      'a.iso',
      'a.img',
      'a.lnk',
      'a.hta',
      'a.reg',
      'a.docm',
      'a.xlsm',
      'a.svg',
      'a.html',
      'A.EXE',
    ],
  ])('%s', async (name) => {
    const { result, warning } = await visit('https://files.example/d', file(name, true));
    expect(result).toMatch(/^Beware It downloads a program( for \w+)? from files\.example https:/);
    expect(result).toMatch(/Download anyway/);
    expect(warning).toBe('program');
  });

  test('a double extension is named, and the last one stands out', async () => {
    const { result, html } = await visit(
      'https://cdn.discordapp.com/a/Invoice_2026.pdf.exe',
      file('Invoice_2026.pdf.exe'),
    );
    expect(result).toContain('The name looks like a PDF, but only its last part counts.');
    expect(html).toContain('<bdi>Invoice_2026.pdf<b class="extension">.exe</b></bdi>, 4.8 MB');
    expect(result).toMatch(/^Beware It downloads a program for Windows from discordapp\.com/);
  });

  test.each(['app.js', 'install.ps1', 'picture.svg', 'run.bat'])(
    'but not text that browsers show: %s',
    async (name) => {
      expect((await visit('https://files.example/d', file(name))).warning).toBe(null);
    },
  );
});

test.each(['report.pdf', 'a.jpg', 'a.png', 'a.mp3', 'a.docx', 'a.xlsx', 'a.pptx', 'a.odt'])(
  'a document or picture is an ordinary file: %s',
  async (name) => {
    const { result, warning } = await visit('https://files.example/d', file(name, true));
    expect(result).toMatch(/^File It leads to a file at files\.example .* Open it/);
    expect(result).not.toContain('Open it only');
    expect(warning).toBe(null);
  },
);

test('another file, such as an archive, needs care', async () => {
  const { result, warning } = await visit('https://files.example/d', file('a.zip', true));
  expect(result).toMatch(/^File .* Open it only if you expect this file\. Open anyway/);
  expect(warning).toBe(null);
});

describe('an app is named and offered', () => {
  test.each([
    ['https://wa.me/4915112345678', 'WhatsApp'],
    ['https://api.whatsapp.com/send/?phone=49151', 'WhatsApp'],
    ['whatsapp://send?text=a', 'WhatsApp'],
    ['itms-appss://apps.apple.com/app/id310633997', 'the App Store'],
    ['line://ti/p/@abc', 'LINE'],
    ['https://line.me/R/ti/p/@abc', 'LINE'],
    ['fb-messenger://user-thread/1', 'Messenger'],
    ['https://m.me/somebody', 'Messenger'],
    ['tg://resolve?domain=a', 'Telegram'],
    ['mailto:a@example.com', 'your mail program'],
  ])('%s', async (url, app) => {
    const { result, html, reason, warning } = await visit(url);
    expect(result).toMatch(new RegExp(`^Opens an app It opens ${app} `));
    expect(html).toContain(`<a href="${url}" rel="noreferrer noopener nofollow" class="main">Open it</a>`);
    expect([reason, warning]).toEqual([`It opens ${app}`, null]);
  });

  test.each(['javascript:alert(1)', 'data:text/html,a', 'unknown-app:x', 'file:///etc/passwd'])(
    'but nothing else is: %s',
    async (url) => {
      const { result, html } = await visit(url);
      expect(result).toMatch(/^Beware It does not lead to a web page/);
      expect(html).not.toContain(`href="${url}`);
    },
  );
});

test('a script that may redirect is a warning, also for programs', async () => {
  const { result, warning } = await visit('https://moving.example/', { scriptRedirect: true, title: 'Wait' });
  expect(result).toMatch(/^Page found A script may redirect you from moving\.example/);
  expect(warning).toBe('script');
});

describe('a refresh that is too late to be followed', () => {
  const url = 'https://slow.example/';
  test('is told with its delay and target', async () => {
    const { result, html } = await visit(url, {
      laterRefresh: { seconds: 30, url: 'https://evil.example/a' },
    });
    expect(result).toContain('After 30 seconds, the page opens https://evil.example/a.');
    expect(html).toContain('After 30 seconds, the page opens https://evil.example/a');
  });

  test.each(['', url])('but not if it loads the same page again: %s', async (target) => {
    expect((await visit(url, { laterRefresh: { seconds: 300, url: target } })).result).not.toContain('After');
  });
});

describe('programs learn why a chain ended, without an error', () => {
  test.each([
    ['javascript:alert(1)', 'unsupported_scheme', 'It does not lead to a web page'],
    ['mailto:a@example.com', 'unsupported_scheme', 'It opens your mail program'],
    ['http://[', 'malformed_location', 'The link is broken'],
    [short, 'loop', 'The redirects form a loop at sho.rt'],
  ])('%s', async (url, code, sentence) => {
    const app = scriptedApp({ [short]: to(url) });
    const response = await app.request(`/api?format=json&follow=all&u=${encodeURIComponent(short)}`);
    const { longUrl, end, reason } = (await response.json()) as Verdict & { longUrl: string };
    expect([longUrl, end.code, reason]).toEqual([short, code, sentence]);
    expect(end.target).toBe(code === 'loop' ? undefined : url);
  });
});

test('200 ordinary links of ten kinds cause no alarm', async () => {
  const kinds = new Set(ordinaryLinks.map(({ kind }) => kind));
  expect([kinds.size, ordinaryLinks.length]).toEqual([10, 200]);
  for (const { url, response } of ordinaryLinks) {
    const { html, warning } = await visit(url, response);
    const [, tone] = /<section slot="result" aria-labelledby="headline" class="(\w+)"/.exec(html) ?? [];
    expect([url, tone, warning]).toEqual([url, 'plain', null]);
    expect(html, url).toContain('class="main">Open it</a>');
  }
});
