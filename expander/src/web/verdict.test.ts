import { describe, expect, test } from 'vitest';
import { ordinaryLinks } from '../../testing/ordinary-links.ts';
import { readPage, scriptedApp, to, type Web } from '../../testing/scripted-web.ts';
import type { HopResponse } from '../expansion/expansion.ts';
import { isKnownWebsite } from '../expansion/known-names.ts';
import { placeOf } from '../expansion/places.ts';
import { type Ending, endings, openLabel, tones } from './endings.ts';

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
    [
      'https://dhl.com.paket-zustellung.top/de/verfolgen?id=8837201',
      'DHL',
      'dhl.com',
      'paket-zustellung.top',
    ],
    [
      'https://login.microsoftonline.com.secure-login.info/x',
      'Microsoft',
      'microsoftonline.com',
      'secure-login.info',
    ],
    ['https://www.amazon.co.uk.orders.example/', 'Amazon', 'amazon.co.uk', 'orders.example'],
    ['https://www.sparkasse.de.konto.example/', 'Sparkasse', 'sparkasse.de', 'konto.example'],
    ['https://www.stadtwerke.com.konto.example/', 'stadtwerke.com', 'stadtwerke.com', 'konto.example'],
  ])('%s', async (url, name, host, site) => {
    const { result, html, warning, reason } = await visit(url, { title: 'Log in' });
    const headline = `This is not ${name}. It leads to ${site}`;
    expect(result.replace('.It', '. It').startsWith(`Beware ${headline} https://`)).toBe(true);
    expect(result).toContain(
      `even “${host}”. If you want ${name}, type ${host} yourself. The page calls itself`,
    );
    expect(result).toContain('The page calls itself “Log in”. Open anyway');
    expect(html).toContain('data-label="Copy as a warning"');
    expect(html).toContain(`data-announcement="Beware. ${headline}`);
    const [, struck = ''] = /<s>(.*?)<\/s>/.exec(html) ?? [];
    expect(struck.replace(/<.*?>/g, '')).toBe(new URL(url).hostname.slice(0, -site.length));
    expect({ warning, reason }).toEqual({ warning: 'subdomain', reason: headline });
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
    ['https://sites.google.com/view/chess-club/home', 'sites.google.com', 'Google'],
    ['https://docs.google.com/forms/d/e/1FAIpQL/viewform', 'docs.google.com', 'Google'],
    ['https://docs.google.com/document/d/1a/edit', 'docs.google.com', 'Google'],
    ['https://script.google.com/macros/s/AK/exec', 'script.google.com', 'Google'],
    ['https://drive.google.com/file/d/1a/view', 'drive.google.com', 'Google'],
    ['https://contoso-my.sharepoint.com/:f:/g/personal/a', 'contoso-my.sharepoint.com', 'Microsoft'],
    ['https://forms.office.com/r/AbCdEf', 'forms.office.com', 'Microsoft'],
    ['https://www.dropbox.com/scl/fi/abc/a?rlkey=1', 'dropbox.com', 'Dropbox'],
    ['https://t.me/somechannel', 't.me', 'Telegram'],
    ['https://linktr.ee/somebody', 'linktr.ee', 'Linktree'],
    ['https://new.express.adobe.com/webpage/AbC', 'new.express.adobe.com', 'Adobe'],
    [
      'https://customervoice.microsoft.com/Pages/ResponsePage.aspx?id=a',
      'customervoice.microsoft.com',
      'Microsoft',
    ],
    ['https://lookerstudio.google.com/reporting/0a1b', 'lookerstudio.google.com', 'Google'],
    ['https://www-bbc-com.translate.goog/news', 'www-bbc-com.translate.goog', 'translate.goog'],
    ['https://somebody.github.io/', 'somebody.github.io', 'github.io'],
    ['https://bank-login.web.app/', 'bank-login.web.app', 'web.app'],
    ['https://dhl.blogspot.com/', 'dhl.blogspot.com', 'blogspot.com'],
  ])('%s', async (url, site, provider) => {
    const { result, html, warning, reason } = await visit(url, {
      title: 'A page',
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
    expect(result).toMatch(/^Beware It downloads a (.* )?programs?( for \w+)? from files\.example https:/);
    expect(result).toMatch(/Download anyway/);
    expect(warning).toBe('program');
  });

  test('a double extension is named, and the last one stands out', async () => {
    const { result, html } = await visit(
      'https://cdn.discordapp.com/a/Invoice_2026.pdf.exe',
      file('Invoice_2026.pdf.exe'),
    );
    expect(result).toContain('The name looks like a PDF, but only its last part counts.');
    expect(html).toContain('<bdi>Invoice_2026.pdf<b class="extension">.exe</b></bdi>, 4.8\u00a0MB');
    expect(result).toMatch(/^Beware It downloads a program for Windows from discordapp\.com/);
  });

  test.each(['app.js', 'install.ps1', 'picture.svg', 'run.bat'])(
    'but not text that browsers show: %s',
    async (name) => {
      expect((await visit('https://files.example/d', file(name))).warning).toBe(null);
    },
  );
});

test.each([
  ['report.pdf', 'a PDF'],
  ['a.jpg', 'a picture'],
  ['a.png', 'a picture'],
  ['a.mp3', 'a sound'],
  ['a.docx', 'a text document'],
  ['a.xlsx', 'a spreadsheet'],
  ['a.pptx', 'a presentation'],
  ['a.odt', 'a text document'],
])('a document or picture is an ordinary file, and is named: %s', async (name, kind) => {
  const { result, warning } = await visit('https://files.example/d', file(name, true));
  expect(result).toMatch(RegExp(`^File It leads to ${kind} at files\\.example .* Open it`));
  expect(result).not.toContain('Open it only');
  expect(warning).toBe(null);
});

test.each([
  ['a.zip', 'an archive'],
  ['a.bin', 'a file'],
])('another file needs care: %s', async (name, kind) => {
  const { result, warning } = await visit('https://files.example/d', file(name, true));
  expect(result).toMatch(
    RegExp(`^Contents unknown It leads to ${kind} at .* Open it only if you expect it\\. Open anyway`),
  );
  expect(warning).toBe(null);
});

describe('an app is named and offered, with the person or group that the URL names', () => {
  test.each([
    ['https://wa.me/4915112345678', 'WhatsApp: a chat with +4915112345678'],
    ['https://wa.me/+4915112345678?text=Hi', 'WhatsApp: a chat with +4915112345678'],
    ['https://wa.me/c/4915112345678', 'WhatsApp: the catalogue of +4915112345678'],
    ['https://wa.me/message/ABC', 'WhatsApp'],
    ['https://wa.me/?text=Hi', 'WhatsApp'],
    ['https://api.whatsapp.com/send/?text=a&phone=%2B49151', 'WhatsApp: a chat with +49151'],
    ['https://chat.whatsapp.com/AbCdEf', 'WhatsApp: an invitation to a group'],
    ['whatsapp://send?phone=49151', 'WhatsApp: a chat with +49151'],
    ['whatsapp://send?text=a', 'WhatsApp'],
    ['itms-appss://apps.apple.com/app/id310633997', 'the App Store'],
    ['market://details?id=com.whatsapp', 'Google Play: the app com.whatsapp'],
    ['intent://a#Intent;scheme=a;package=com.a;end', 'an Android app: com.a'],
    ['line://ti/p/@abc', 'LINE: a chat with @abc'],
    ['https://line.me/R/ti/p/%40abc', 'LINE: a chat with @abc'],
    ['https://line.me/ti/p/~abc', 'LINE: a chat with abc'],
    ['https://line.me/ti/p/AbCdEf', 'LINE'],
    ['https://line.me/R/ti/g/AbCdEf', 'LINE: an invitation to a group'],
    ['fb-messenger://user-thread/1', 'Facebook Messenger'],
    ['https://m.me/some.body', 'Facebook Messenger: a chat with some.body'],
    ['https://m.me/j/AbC/', 'Facebook Messenger: an invitation to a group'],
    ['https://signal.me/#p/+49151', 'Signal: a chat with +49151'],
    ['https://signal.group/#AbC', 'Signal: an invitation to a group'],
    ['viber://chat?number=49151', 'Viber: a chat with +49151'],
    ['tg://resolve?domain=a', 'Telegram: a chat with @a'],
    ['tg://join?invite=a', 'Telegram: an invitation to a group'],
    ['tel:+49-151-1', 'your phone: a call to +49-151-1'],
    ['sms:+49151?body=Hi', 'your text messages: a message to +49151'],
    ['facetime:a@example.com', 'FaceTime: a call to a@example.com'],
    ['mailto:a@example.com?subject=Hi', 'your mail program: a message to a@example.com'],
    ['mailto:a@example.com,b@example.com', 'your mail program'],
  ])('%s', async (url, app) => {
    const { result, html, reason, warning } = await visit(url);
    const isNamed = result.startsWith(`Opens an app It opens ${app} ${url.slice(0, 4)}`);
    expect([isNamed, result]).toEqual([true, result]);
    expect(html).toContain(
      `<a href="${url.replaceAll('&', '&amp;')}" rel="noreferrer noopener nofollow" class="main">Open it</a>`,
    );
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
  expect(result).toMatch(/^Not checked to the end A script may redirect you from moving\.example/);
  expect(warning).toBe('script');
});

describe('a page that a script makes, at a well-known website, is ordinary', () => {
  const scripted = (url: string) => visit(url, { scriptRedirect: true, title: 'Brandenburg Gate' });

  test.each([
    ['https://www.google.com/maps/place/Tor/', 'google.com'],
    ['https://www.youtube.com/watch?v=a', 'youtube.com'],
    ['https://www.amazon.co.uk/dp/B0ABCDEFGH', 'amazon.co.uk'],
    ['https://www.paypal.com/paypalme/somebody', 'paypal.com'],
  ])('%s', async (url, site) => {
    const { result, html, reason, warning } = await scripted(url);
    expect(result).toMatch(RegExp(`^Page found Brandenburg Gate ${site} https:`));
    expect(result).toContain(`A script may redirect you from ${site}. Open it`);
    expect(html).toContain(`data-announcement="Brandenburg Gate. It leads to ${site}. A script may`);
    expect([reason, warning]).toEqual([`It leads to ${site}`, 'script']);
  });

  test.each([
    ['an unknown website', 'https://google.com.example/', 'google.com.example'],
    ['a name of somebody else', 'https://mygoogle.com/', 'mygoogle.com'],
    ['a customer of a well-known website', 'https://x1.amazonaws.com/', 'x1.amazonaws.com'],
  ])('but not %s', async (_, url) => {
    expect((await scripted(url)).html).not.toContain('class="plain"');
  });

  test('but not without encryption', async () => {
    const { result, warning } = await scripted('http://www.google.com/maps');
    expect(result).toMatch(/^Not encrypted It leads to google\.com/);
    expect(warning).toBe('script');
  });
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
    ['mailto:a@example.com', 'unsupported_scheme', 'It opens your mail program: a message to a@example.com'],
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

describe('200 ordinary links of ten kinds', () => {
  const resultOf = async (url: string, response: Partial<HopResponse>) => {
    const { html, result, warning } = await visit(url, response);
    const [, tone] = /<section slot="result" aria-labelledby="headline" class="(\w+)"/.exec(html) ?? [];
    return { html, result, tone, warning };
  };
  const shells = ordinaryLinks.filter(({ isShell }) => isShell);
  const known = shells.filter(({ url }) => isKnownWebsite(new URL(url)));
  const unknown = shells.filter((link) => !known.includes(link));
  const others = ordinaryLinks.filter(({ isShell }) => !isShell);

  test('have pages that are full of scripts', () => {
    const kinds = new Set(ordinaryLinks.map(({ kind }) => kind));
    expect([kinds.size, shells.length, others.length]).toEqual([10, 116, 84]);
    expect([known.length, unknown.length]).toEqual([104, 12]);
  });

  test('cause no alarm', async () => {
    for (const { url, page, response } of others) {
      const { html, tone, warning } = await resultOf(url, response);
      expect([url, page, tone, warning]).toEqual([url, page, 'plain', null]);
      expect(html, url).toContain('class="main">Open it</a>');
    }
  });

  test('are ordinary if scripts make them at a well-known website', async () => {
    for (const { url, page, response } of known) {
      const { result, html, tone, warning } = await resultOf(url, response);
      expect([url, page, tone, warning]).toEqual([url, page, 'plain', 'script']);
      expect(html, url).toContain('class="main">Open it</a>');
      expect(result).toContain('A script may redirect you from ');
      expect(result).not.toContain('Open it only');
    }
  });

  test('are not called dangerous if scripts make them elsewhere', async () => {
    for (const { url, page, response } of unknown) {
      const { result, tone, warning } = await resultOf(url, response);
      expect([url, page, tone, warning]).toEqual([url, page, 'amber', 'script']);
      expect(result).toMatch(/^Not checked to the end A script may redirect you from \S+ https:/);
      expect(result).toContain('Many ordinary websites need scripts to show a page.');
      expect(result).not.toMatch(/beware|danger|attack|harm|risk|virus|program|password/i);
    }
  });
});

describe('a page that asks for something in a well-known name, at a place where anyone can publish, is red', () => {
  test.each([
    ['https://sites.google.com/view/paypal-secure-login/home', 'Home', 'PayPal', 'paypal.com'],
    ['https://sites.google.com/view/abc', 'PayPal: Log in', 'PayPal', 'paypal.com'],
    ['https://paypal-login.github.io/', 'Home', 'PayPal', 'paypal.com'],
    ['https://x1.web.app/wells_fargo/sign-in', null, 'Wells Fargo', 'wellsfargo.com'],
    ['https://dhl-sendungsverfolgung.blogspot.com/', null, 'DHL', 'dhl.com'],
    ['https://x1.pages.dev/', 'Sign in to your Microsoft account', 'Microsoft', 'microsoft.com'],
    [
      'https://docs.google.com/forms/d/e/1/viewform',
      'Netflix: update your billing',
      'Netflix',
      'netflix.com',
    ],
  ])('%s %s', async (url, title, name, home) => {
    const { result, html, reason, warning } = await visit(url, title === null ? {} : { title });
    const site = placeOf(new URL(url))?.site;
    expect([reason, warning]).toEqual([`This is not ${name}. It leads to a page at ${site}`, 'imitates']);
    expect(result).toMatch(RegExp(`^Beware This is not ${name}\\. ?It leads to a page at ${site} https://`));
    expect(result).toContain(`anyone can publish there. If you want ${name}, type ${home} yourself.`);
    expect(html).toContain('data-label="Copy as a warning"');
  });

  test.each([
    ['a name alone', 'https://sites.google.com/view/paypal', 'PayPal'],
    ['a request alone', 'https://sites.google.com/view/login', 'Log in'],
    ['the provider itself', 'https://docs.google.com/forms/d/e/1/viewform', 'Sign in - Google Forms'],
    ['the account of the owner', 'https://microsoft.github.io/account-login/', 'Microsoft account'],
    ['a part of a word', 'https://pineapple-login.github.io/chasey/', 'Supsteam log in'],
    ['the name of a file', 'https://www.dropbox.com/scl/fi/abc/PayPal-account.pdf?rlkey=1', null],
    ['an open-source project', 'https://netflix-clone.vercel.app/', 'Netflix clone'],
  ])('but not %s', async (_, url, title) => {
    expect((await visit(url, title === null ? {} : { title })).warning).toBe('anyone');
  });
});

test('a page that does not work now is not a risk: it is grey, and may be tried', async () => {
  for (const [status, verdict] of Object.entries({
    404: 'Broken link',
    403: 'Blocked our check',
    500: 'Not working right now',
  })) {
    const { result, html } = await visit('https://down.example/', { status: Number(status) });
    expect([status, result]).toEqual([status, expect.stringMatching(RegExp(`^${verdict} .*Try it anyway`))]);
    expect(html).toContain('class="grey"');
    expect(html).toContain('class="careful">Try it anyway</a>');
  }
});

test('only an ordinary page, file or app is offered with "Open it", and nothing else is plain', () => {
  for (const ending of Object.values<Ending>(endings)) {
    const label = openLabel(ending);
    if (!ending.verdict || !label) continue;
    const isOrdinary = tones[ending.verdict] === 'plain' || ending.verdict === 'Opens an app';
    expect([ending.verdict, label === 'Open it']).toEqual([ending.verdict, isOrdinary]);
  }
});
