import { registrableDomain } from './host.ts';
import type { Place } from './places.ts';

/** A name that phishing pages often use, and the host of its owner. */
export interface KnownName {
  name: string;
  home: string;
}

/** The names that phishing pages use most, in public reports of the last years, with the domains of the owner, the home first. */
const names = Object.entries({
  Adobe: 'adobe.com',
  Amazon:
    'amazon.com amazon.ca amazon.co.jp amazon.co.uk amazon.com.au amazon.com.br amazon.de amazon.es amazon.fr amazon.in amazon.it amazon.nl',
  'American Express': 'americanexpress.com',
  Apple: 'apple.com',
  'AT&T': 'att.com',
  'Bank of America': 'bankofamerica.com',
  Barclays: 'barclays.co.uk',
  Binance: 'binance.com',
  Chase: 'chase.com',
  Coinbase: 'coinbase.com',
  Commerzbank: 'commerzbank.de',
  DHL: 'dhl.com',
  DocuSign: 'docusign.com',
  DPD: 'dpd.com',
  eBay: 'ebay.com ebay.co.uk ebay.com.au ebay.de ebay.fr ebay.it',
  Facebook: 'facebook.com',
  FedEx: 'fedex.com',
  Gmail: 'gmail.com',
  Google:
    'google.com google.co.in google.co.jp google.co.uk google.com.br google.de google.es google.fr google.it',
  HSBC: 'hsbc.com hsbc.co.uk',
  iCloud: 'icloud.com',
  ING: 'ing.com ing.de',
  Instagram: 'instagram.com',
  Ledger: 'ledger.com',
  LinkedIn: 'linkedin.com',
  MetaMask: 'metamask.io',
  Microsoft: 'microsoft.com microsoftonline.com live.com',
  Netflix: 'netflix.com',
  'Office 365': 'office.com office365.com',
  Outlook: 'outlook.com',
  PayPal: 'paypal.com',
  Postbank: 'postbank.de',
  Revolut: 'revolut.com',
  Santander: 'santander.com',
  SharePoint: 'sharepoint.com',
  Sparkasse: 'sparkasse.de',
  Spotify: 'spotify.com',
  Steam: 'steampowered.com',
  Trezor: 'trezor.io',
  USPS: 'usps.com',
  UPS: 'ups.com',
  Volksbank: 'vr.de',
  'Wells Fargo': 'wellsfargo.com',
  WhatsApp: 'whatsapp.com',
  Yahoo: 'yahoo.com',
}).map(([name, domains]) => ({ name, domains: domains.split(' ') }));

const letters = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}]+/gu, ' ')
    .trim();

/** Made when first needed, because that takes 1 ms. */
let patterns: ReturnType<typeof makePatterns> | undefined;

const makePatterns = () =>
  names.map(({ name, domains: [home = ''] }) => ({
    ...{ name, home },
    pattern: RegExp(`(?:^| )${letters(name).replaceAll(' ', ' ?')}(?= |$)`),
  }));

/** Matches what phishing pages ask for, in some languages: to sign in, to confirm an account, or to pay for a parcel. */
const asking =
  /(?:^| )(?:log ?(?:in|on)|sign ?(?:in|on)|secure|security|verify|verification|account|password|wallet|billing|update|unlock|recovery|parcel|package|delivery|tracking|anmelden|anmeldung|einloggen|konto|sicherheit|paket|sendung\p{Letter}*|zustellung|connexion|compte|colis|iniciar|sesion|sesión|cuenta|paquete|accesso|accedi|pacco|entrar|conta|logowanie|paczka)(?= |$)/u;

/**
 * Other domains of well-known websites. Each is among the most visited of its kind in some country, and its owner alone writes
 * the scripts of its pages, so that no stranger's script can redirect from it.
 */
const otherWebsites = `
  etsy.com aliexpress.com walmart.com target.com bestbuy.com ikea.com
  zalando.de otto.de flipkart.com taobao.com rakuten.co.jp allegro.pl ozon.ru mercadolivre.com.br
  bing.com duckduckgo.com
  youtube.com vimeo.com dailymotion.com twitch.tv tiktok.com disneyplus.com primevideo.com hulu.com bilibili.com arte.tv
  ardmediathek.de zdf.de
  openstreetmap.org here.com waze.com baidu.com naver.com kakao.com mapy.cz strava.com komoot.com
  wikipedia.org stackoverflow.com mozilla.org
  bbc.co.uk bbc.com cnn.com nytimes.com washingtonpost.com theguardian.com reuters.com apnews.com aljazeera.com spiegel.de
  lemonde.fr elpais.com repubblica.it nhk.or.jp asahi.com indiatimes.com smh.com.au globo.com onet.pl tagesschau.de
  proton.me gmx.net web.de mail.ru 163.com laposte.net
  fastmail.com
  x.com twitter.com threads.com bsky.app reddit.com pinterest.com pinterest.de snapchat.com discord.com vk.com weibo.com quora.com
  epicgames.com nintendo.com playstation.com samsung.com huawei.com
  deutsche-bank.de credit-agricole.fr bbva.es intesasanpaolo.com sberbank.ru hdfcbank.com commbank.com.au itau.com.br`;

const websites = new Set([...names.flatMap(({ domains }) => domains), ...otherWebsites.trim().split(/\s+/)]);

/** Whether a URL belongs to a well-known website or a subdomain. Ask `placeOf` first whether anyone can publish there. */
export const isKnownWebsite = (url: URL) => websites.has(registrableDomain(url));

/** Returns the name that people know for a host, such as Microsoft for `microsoftonline.com`, or else the host. */
export function nameOf(hostname: string): string {
  const domain = registrableDomain({ hostname });
  return names.find(({ domains }) => domains.includes(domain))?.name ?? hostname;
}

/** Maximum characters of a path to examine. */
const maxPath = 500;

/**
 * Finds a well-known name that a page at `place` uses to ask for something, such as PayPal in
 * `sites.google.com/view/paypal-secure-login`. A name and a request must stand together in the URL or in the title.
 *
 * @returns null for the pages of the provider itself, such as Google's forms, and of an account named after the owner, such as
 * `microsoft.github.io`.
 */
export function nameUsedAt(
  { site, provider }: Place,
  { hostname, pathname }: URL,
  title: string | null,
): KnownName | null {
  const [account = ''] = site.split('.');
  const labels = hostname.split('.').slice(0, -2);
  // A name with an extension is that of a file.
  const folders = pathname
    .slice(0, maxPath)
    .split('/')
    .filter((part) => !part.includes('.'));
  const texts = [[...labels, ...folders].join(' '), title ?? ''].map(letters);
  patterns ??= makePatterns();
  const used = patterns.find(({ pattern }) => texts.some((text) => pattern.test(text) && asking.test(text)));
  return used && used.name !== provider && letters(used.name) !== account ? used : null;
}
