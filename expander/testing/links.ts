import { type ErrorReason, ExpansionError, overloaded, unknownName } from '../src/expansion/errors.ts';
import { to, type Web } from './scripted-web.ts';

const end = 'https://end.example/';
/** Returns the URL of a hop in a chain with 24 redirects. */
export const long = (hop: number) => `http://long.example/${hop}`;
const hostileTitle = '\u202e</bdi><script>hit()</script> & more';
export const cyrillic = 'http://xn--e1afmkfd.example/';
export const mixed = 'http://xn--pple-43d.example/';
export const imitation = 'http://xn--80ak6aa92e.com/';

/** Redirect targets of `http://s.example/NAME`, by name. */
const targets = {
  final: end,
  dead: 'http://gone.example/',
  down: 'http://down.example/',
  round: 'http://s.example/back',
  back: 'http://s.example/round',
  loop: 'http://s.example/loop',
  malformed: 'http://[',
  mail: 'mailto:someone@example.com',
  script: 'javascript:alert(1)',
  scheme: 'unknown-app:x',
  broken: 'http://nobody.example/',
  nobody: 'http://xn--nobod-3qf.example/',
  unknown: 'http://none.example/',
  private: 'http://10.0.0.1/',
  closed: 'http://closed.example/',
  title: 'https://title.example/?id=1&utm_source=mail',
  disguised: 'https://www.paypal.com.verify-login.example/signin',
  plainly: end.replace('https', 'http'),
  cyrillic,
  mixed,
  imitation,
  inside: 'http://www.s.example/',
  twice: 'http://s.example/301',
  wrapped: 'https://www.google.com/url?q=https%3A%2F%2Fend.example%2F',
  1: 'http://t.example/2',
  returning: 'http://t.example/back',
  far: 'http://a1.example/',
};

const refused = (reason: ErrorReason, message: string) =>
  new ExpansionError('target_refused', message, { reason });

/** Websites with chains that end in every possible way. */
export const web: Web = {
  [end]: {},
  'http://gone.example/': { status: 410, title: 'Gone' },
  'http://down.example/': { status: 503 },
  'http://none.example/': unknownName('none.example'),
  'http://10.0.0.1/': refused('private_address', '10.0.0.1 belongs to a private network.'),
  'http://bank.example@10.0.0.1:8080/': refused('credentials', 'The URL has a user name.'),
  'http://a.example:1/': refused('port', 'Websites do not use port 1.'),
  'https://self.example/': new ExpansionError(
    'request_failed',
    'self.example has a certificate that cannot be verified.',
    { reason: 'certificate', detail: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
  ),
  'https://leaf.example/': new ExpansionError(
    'request_failed',
    'leaf.example sends an incomplete certificate chain; browsers usually repair that.',
    { reason: 'certificate', detail: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
  ),
  'http://late.example/': new ExpansionError('timeout', 'late.example did not respond within 3 seconds.'),
  'http://unread.example/': { incomplete: true, interrupted: true },
  'https://partly.example/': { method: 'GET', bytesRead: 65_536, incomplete: true },
  'http://head.example/': { status: 404, incomplete: true, interrupted: true },
  'https://cut.example/': { method: 'GET', bytesRead: 9, incomplete: true, interrupted: true },
  'https://moving.example/': { scriptRedirect: true },
  'http://file.example/': { file: { name: 'setup.exe', size: 48_000_000 } },
  'https://empty.example/': { status: 204 },
  ...Object.fromEntries(
    [401, 403, 404, 418, 429, 451, 599, 999].map((status) => [`http://${status}.example/`, { status }]),
  ),
  'http://closed.example/': { status: 403 },
  'http://busy.example/': overloaded('Too much'),
  'https://title.example/?id=1&utm_source=mail': { title: hostileTitle },
  'https://www.paypal.com.verify-login.example/signin': { title: 'PayPal' },
  'http://end.example/': {},
  'http://end.example/up': to(end),
  [cyrillic]: {},
  [mixed]: { title: 'Apple' },
  [imitation]: {},
  'http://www.s.example/': {},
  'https://sho.rt/a': to('https://www.example.com/'),
  'https://www.example.com/': {},
  'https://sho.rt/a.': to('https://dot.example/'),
  'https://dot.example/': { status: 503 },
  ...Object.fromEntries(
    Object.entries(targets).map(([name, target]) => [`http://s.example/${name}`, to(target)]),
  ),
  ...Object.fromEntries(
    [301, 302, 303, 307, 308].map((status) => [`http://s.example/${status}`, to(end, status)]),
  ),
  'http://s.example/silent': { status: 302 },
  'http://s.example/refresh': { refresh: { kind: 'refresh', url: end } },
  'http://s.example/meta': { method: 'GET', bytesRead: 512, refresh: { kind: 'meta', url: end } },
  'http://s.example/get': { ...to(end), method: 'GET' },
  'https://s.example/plain': to('http://s.example/inside'),
  'http://t.example/2': to('http://u.example/3'),
  'http://u.example/3': to(end),
  'http://t.example/back': to('http://www.s.example/'),
  ...Object.fromEntries(
    [1, 2, 3, 4].map((n) => [`http://a${n}.example/`, to(n < 4 ? `http://a${n + 1}.example/` : end)]),
  ),
  ...Object.fromEntries(Array.from({ length: 24 }, (_, hop) => [long(hop), to(long(hop + 1))])),
};
