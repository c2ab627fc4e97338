import { words } from '../pieces.ts';
import { end, type Link, redirect } from './link.ts';

const domains = words`
  amazon android app audible azure bank bing boo channel chrome dad day dev eat esq fire fly foo fujitsu gle gmail
  google hangout hotmail imdb ing insurance kindle meet meme microsoft mov new nexus office page phd play prime prof
  rsvp search silk skype windows xbox xn--cckwcxetd xn--jlq480n2rg youtube zappos zip
`;

const hosts = [
  ...domains.map((domain) => `name.${domain}`),
  ...words`name.dev. dev a.b.dev name.dev.example name.com dev.com name.xdev name.dev:8080 NAME.APP`,
];

/** Links to http URLs of hosts whose top-level domain is or is not in Chromium's HSTS preload list. */
export const transportLinks: readonly Link[] = hosts.map((host) => ({
  group: 'HSTS preload',
  sent: host,
  website: (request) => (request.host === 'start.example' ? redirect(`http://${host}/`) : end),
}));
