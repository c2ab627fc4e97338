import { parse } from 'tldts';

/** A place where anybody can publish pages or files under another website's name. */
export interface Place {
  /** The part of the host that identifies the place or its customer, such as `sites.google.com`. */
  site: string;
  /** Who provides the space, such as `Google`. */
  provider: string;
}

interface PlaceEntry {
  /** Matches the host; or, if a path is given, the host without `www.`. */
  host: string | RegExp;
  /** Matches the paths of published content. All other paths belong to the provider itself. */
  path?: RegExp;
  provider: string;
  /** Why the host or path alone does not name the author. */
  reason: string;
}

/** Places that the Public Suffix List does not have, because all customers share one host, or share its cookies. */
const entries: readonly PlaceEntry[] = [
  { host: 'sites.google.com', provider: 'Google', reason: 'Google Sites: anyone with an account' },
  {
    host: 'docs.google.com',
    path: /^\/(?:\w\/\d+\/)?(?:a\/|document\/|spreadsheets\/|presentation\/|forms\/|drawings\/|viewer)/,
    provider: 'Google',
    reason: 'documents and forms of anyone with an account, also published as pages',
  },
  { host: 'drive.google.com', provider: 'Google', reason: 'files of anyone with an account' },
  {
    host: 'script.google.com',
    provider: 'Google',
    reason: 'programs of anyone with an account, shown as pages',
  },
  { host: 'storage.googleapis.com', provider: 'Google', reason: 'files and pages of any customer, by path' },
  { host: 'firebasestorage.googleapis.com', provider: 'Google', reason: 'files of any customer, by path' },
  {
    host: 'translate.google.com',
    path: /^\/(?:translate|website)/,
    provider: 'Google',
    reason: 'shows any page under the name of Google',
  },
  {
    host: /\.sharepoint\.com$/,
    provider: 'Microsoft',
    reason: 'files and pages of any customer, by subdomain',
  },
  { host: 'forms.office.com', provider: 'Microsoft', reason: 'forms of anyone with an account' },
  { host: 'forms.cloud.microsoft', provider: 'Microsoft', reason: 'the new host of the same forms' },
  { host: 'sway.cloud.microsoft', provider: 'Microsoft', reason: 'pages of anyone with an account' },
  {
    host: 'onedrive.live.com',
    path: /./,
    provider: 'Microsoft',
    reason: 'files of anyone with an account; a sign-in page has another host',
  },
  { host: 'customervoice.microsoft.com', provider: 'Microsoft', reason: 'forms of any customer' },
  {
    host: 'lookerstudio.google.com',
    path: /^\/(?:u\/\d+\/)?(?:reporting|embed)\//,
    provider: 'Google',
    reason: 'pages of anyone with an account',
  },
  {
    host: /^(?:new\.)?express\.adobe\.com$/,
    path: /^\/(?:web)?page\//,
    provider: 'Adobe',
    reason: 'pages of anyone with an account',
  },
  {
    host: 'dropbox.com',
    path: /^\/(?:s|sh|scl|l|t|transfer)\//,
    provider: 'Dropbox',
    reason: 'files of anyone with an account; other paths are pages of Dropbox',
  },
  { host: /\.dropboxusercontent\.com$/, provider: 'Dropbox', reason: 'the content of the same files' },
  { host: 'app.box.com', path: /^\/s\//, provider: 'Box', reason: 'files of anyone with an account' },
  { host: 'cdn.discordapp.com', provider: 'Discord', reason: 'attachments of anyone with an account' },
  { host: 'media.discordapp.net', provider: 'Discord', reason: 'the same attachments, as pictures' },
  {
    host: 't.me',
    path: /^\/./,
    provider: 'Telegram',
    reason: 'channels, groups and bots of anyone with an account',
  },
  { host: 'telegra.ph', path: /^\/./, provider: 'Telegram', reason: 'pages of anyone, without an account' },
  {
    host: 'linktr.ee',
    path: /^\/./,
    provider: 'Linktree',
    reason: 'a list of links of anyone with an account',
  },
  { host: 'gist.github.com', provider: 'GitHub', reason: 'files of anyone with an account' },
  { host: 'pastebin.com', path: /^\/(?:raw\/)?\w{8}$/, provider: 'Pastebin', reason: 'text of anyone' },
  { host: 'mega.nz', path: /^\/(?:file|folder)\//, provider: 'MEGA', reason: 'files of anyone' },
  {
    host: 'mediafire.com',
    path: /^\/(?:file|folder|view)\//,
    provider: 'MediaFire',
    reason: 'files of anyone',
  },
  { host: 'wetransfer.com', path: /^\/downloads\//, provider: 'WeTransfer', reason: 'files of anyone' },
  { host: 'canva.com', path: /^\/design\//, provider: 'Canva', reason: 'pages of anyone with an account' },
  { host: /\.typeform\.com$/, provider: 'Typeform', reason: 'forms of any customer, by subdomain' },
  { host: 'form.jotform.com', provider: 'Jotform', reason: 'forms of any customer' },
  { host: /\.hubspotpagebuilder\.com$/, provider: 'HubSpot', reason: 'pages of any customer, by subdomain' },
  { host: 'ipfs.io', path: /^\/ip[fn]s\//, provider: 'IPFS', reason: 'files of anyone' },
];

/** Private suffixes whose names are sold or assigned like those of a top-level domain, so that each is a website of its own. */
const registries: readonly { suffix: RegExp; reason: string }[] = [
  {
    suffix: /^(?:[a-z]{2}|com?|net|org|gov|edu|mil|int|biz|info|ltd|inc|priv|firm)\.[a-z]+$/,
    reason: 'such as uk.com, co.nl or gov.scot: a code of a country or kind, as below a top-level domain',
  },
  {
    suffix: /(?:^|\.)(?:gov|leg|mil|edu)\.[a-z]{2,}$/,
    reason: 'such as service.gov.uk: only the government assigns names',
  },
  {
    suffix: /\.(?:ru|su|pl)$/,
    reason: 'regions and cities, such as spb.ru or krakow.pl, also used by their councils',
  },
  {
    suffix: /-(?:inquiry|inquest|review|panel|commission)\.uk$/,
    reason: 'only the government assigns names',
  },
  { suffix: /^with(?:google|youtube)\.com$/, reason: 'only Google publishes there' },
];

/** Returns the place if anybody can publish at `url` under another website's name; otherwise null. */
export function placeOf({ hostname, pathname }: URL): Place | null {
  const name = hostname.replace(/^www\./, '');
  const entry = entries.find(({ host, path = /^/ }) => {
    const isThere = typeof host === 'string' ? name === host : host.test(hostname);
    return isThere && path.test(pathname);
  });
  if (entry) return { site: name, provider: entry.provider };
  const { isPrivate, publicSuffix, domain } = parse(hostname, {
    allowPrivateDomains: true,
    extractHostname: false,
  });
  // `www.github.io` would be a page of the provider.
  if (!isPrivate || !publicSuffix || !domain || domain === `www.${publicSuffix}`) return null;
  if (registries.some(({ suffix }) => suffix.test(publicSuffix))) return null;
  return { site: domain, provider: publicSuffix };
}
