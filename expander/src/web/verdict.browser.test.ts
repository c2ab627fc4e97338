import { afterAll, expect } from 'vitest';
import { scriptedApp, to } from '../../testing/scripted-web.ts';
import { startVisits } from '../../testing/visit.ts';

const imitation = 'https://dhl.com.paket-zustellung.top/de/verfolgen?id=8837201';
const program = 'https://cdn.discordapp.com/attachments/99/88/Invoice_2026.pdf.exe';
const article = 'https://www.nytimes.com/2026/11/20/climate.html';
const visits = await startVisits(
  scriptedApp({
    'http://tinyurl.com/dhl-paket': to(imitation),
    [imitation]: { title: 'DHL Sendungsverfolgung' },
    'http://bit.ly/sites': to('https://sites.google.com/view/paypal-secure-login/home'),
    'https://sites.google.com/view/paypal-secure-login/home': { title: 'PayPal: Log in' },
    'http://is.gd/setup': to(program),
    [program]: { file: { name: 'Invoice_2026.pdf.exe', size: 4_800_000, saved: true } },
    'http://bit.ly/news': to(`${article}?utm_source=a&fbclid=b`),
    [`${article}?utm_source=a&fbclid=b`]: { title: 'Arctic Sea Ice Reaches a Record Low' },
    'http://xn--mller-kva.de/': to('https://xn--mller-kva.de/'),
    'https://xn--mller-kva.de/': {},
  }),
);
afterAll(() => visits.close());

const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] };
const style = (selector: string, property: string) =>
  `getComputedStyle(document.querySelector('${selector}')).${property}`;

visits.test(
  'a painted-on name is struck out in red, and its warning can be copied',
  clipboard,
  async (page) => {
    await page.goto(visits.address('tinyurl.com/dhl-paket'));
    await page
      .getByRole('heading', { name: 'This is not dhl.com. It leads to paket-zustellung.top' })
      .waitFor();
    const red = await page.evaluate(style('.verdict', 'backgroundColor'));
    expect(await page.evaluate(style('.site', 'color'))).toBe(red);
    expect(await page.evaluate(style('.destination s', 'textDecorationLine'))).toBe('line-through');
    expect(await page.locator('.destination s').textContent()).toBe('dhl.com.');
    await page.getByRole('button', { name: 'Copy as a warning' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'Beware of tinyurl[.]com/dhl-paket. This is not dhl[.]com. It leads to paket-zustellung[.]top.',
    );
    await expect
      .poll(() => page.getByRole('status').textContent())
      .toMatch(/^(Copied|Beware\. This is not dhl\.com\. It leads to paket-zustellung\.top)/);
    expect(await page.getByRole('link', { name: 'Open anyway' }).getAttribute('href')).toBe(imitation);
  },
);

visits.test('a place where anyone can publish is amber, and has its whole host', {}, async (page) => {
  await page.goto(visits.address('bit.ly/sites'));
  await page.getByText('Anyone can publish here', { exact: true }).waitFor();
  expect(await page.locator('.site').textContent()).toBe('sites.google.com');
  expect(await page.locator('.destination b').textContent()).toBe('sites.google.com');
  expect(await page.locator('.destination').textContent()).toContain('https://sites.google.com/view/paypal');
});

visits.test('the last extension of a program stands out', {}, async (page) => {
  await page.goto(visits.address('is.gd/setup'));
  expect(await page.locator('.extension').textContent()).toBe('.exe');
  expect(await page.evaluate(style('.extension', 'color'))).toBe(
    await page.evaluate(style('.verdict', 'backgroundColor')),
  );
  await page.getByRole('link', { name: 'Download anyway' }).waitFor();
});

visits.test('an ordinary result has its title, its host and two folded lines', {}, async (page) => {
  await page.goto(visits.address('bit.ly/news'));
  await page.getByRole('heading', { name: 'Arctic Sea Ice Reaches a Record Low nytimes.com' }).waitFor();
  expect(await page.locator('summary').allTextContents()).toEqual([
    'Opens without 2 tracking parameters. Show the original',
    'How we got there: bit.ly → www.nytimes.com',
  ]);
  expect(await page.getByText('fbclid').first().isVisible()).toBe(false);
  await page.getByText('Show the original').click();
  expect(await page.locator('.tracked').textContent()).toContain('fbclid=b');
  expect(await page.getByRole('link', { name: 'Open it' }).getAttribute('href')).toBe(article);
});

visits.test('a readable name is large as written, and small in ASCII', {}, async (page) => {
  await page.goto(visits.address('müller.de'));
  expect(await page.locator('.site').textContent()).toBe('müller.de');
  expect(await page.locator('.destination').textContent()).toContain('https://xn--mller-kva.de/');
  const size = async (selector: string) =>
    Number.parseFloat(`${await page.evaluate(style(selector, 'fontSize'))}`);
  expect(await size('.site')).toBeGreaterThan(await size('.destination'));
  expect(await page.locator('body').textContent()).not.toMatch(/punycode/i);
});
