import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, test } from 'vitest';
import { delayDuring, expectSmall, measureBoth, type Services } from './attack.ts';
import { type AttackRequest, sendOne, startAttacker } from './attacker.ts';
import { rounds } from './rounds.ts';
import { type Mixture, mixturesOf, repeated } from './worst-input.ts';

/** A part of a request (or of a website's response) that an attacker chooses. */
export interface Place {
  /** Maximum characters that a client may send there. */
  size: number;
  /** Strings from which texts are assembled. */
  pieces: readonly string[];
  request(text: string): AttackRequest | Promise<AttackRequest>;
}

/** The places of each route or outside input. */
export type Targets = Readonly<Record<string, Readonly<Record<string, Place>>>>;

/** An input that was among the dearest in a long run. */
export interface Dear extends Mixture {
  target: string;
  place: string;
}

interface Settings {
  targets: Targets;
  /** The dearest inputs of the last long run, for short runs. */
  dearest: readonly Dear[];
  /** Starts both services. */
  start(): Promise<Services>;
  /** Another client's request. Returns its status. */
  neighbour(url: string): Promise<number>;
  /** The file in `out/` that a long run writes. */
  report: string;
}

/** Random texts for each place, beside every piece repeated. */
const mixed = rounds({ short: 0, long: 6 });

/** Maximum characters of a text in the report. */
const maxShown = 120;

const isLong = rounds({ short: 0, long: 1 }) === 1;

/**
 * Tests that no input of a client delays other clients by more than a factor of five. A long run measures the CPU time of all
 * generated texts in every place of a target, and attacks with the dearest. A short run attacks with the dearest known inputs.
 */
export function testAttacks({ targets, dearest, start, neighbour, report }: Settings): void {
  let services: Services;
  let attacker: Awaited<ReturnType<typeof startAttacker>>;
  const rows: { target: string; input: string; ms: number; ratio: number; failed: number }[] = [];
  beforeAll(async () => {
    services = await start();
    attacker = await startAttacker();
    await measureBoth(services, neighbour);
  });
  afterAll(async () => {
    if (isLong) writeReport(report, rows);
    await attacker?.close();
  });

  const expectHarmless = async ({ target, place, ...mixture }: Dear) => {
    const chosen = targets[target]?.[place];
    if (!chosen) throw new Error(`${target} has no ${place}: choose the dearest inputs from a long run`);
    const request = await chosen.request(repeated(mixture)(chosen.size));
    const ms = await cost(services.attacked, request);
    const delay = await delayDuring(services, neighbour, (over, begun) =>
      attacker.attack(services.attacked.url, request, over, begun),
    );
    const input = `${place}: ${JSON.stringify(mixture).slice(0, maxShown)}`;
    rows.push({ target, input, ms, ratio: delay.ratio, failed: delay.failed.length });
    expectSmall(delay);
  };

  const title = 'no input delays other clients';
  if (isLong) {
    test.for(Object.keys(targets))(`%s: ${title}`, { timeout: 600_000 }, async (target) => {
      await expectHarmless(await dearestOf(target, targets[target] ?? {}, services.attacked));
    });
  } else {
    test.for(dearest.map((dear) => [`${dear.target}, ${dear.place}`, dear] as const))(
      `%s: ${title}`,
      async ([, dear]) => expectHarmless(dear),
    );
  }
}

/** Returns the input of a target that takes the most CPU time. */
async function dearestOf(
  target: string,
  places: Targets[string],
  service: Services['attacked'],
): Promise<Dear> {
  let most = -1;
  let dearest: Dear | undefined;
  for (const [place, { size, pieces, request }] of Object.entries(places)) {
    for (const mixture of [...pieces.map((piece) => ({ units: [piece] })), ...mixturesOf(pieces, mixed)]) {
      const ms = await cost(service, await request(repeated(mixture)(size)));
      if (ms <= most) continue;
      most = ms;
      dearest = { target, place, ...mixture };
    }
  }
  if (!dearest) throw new Error(`${target} has no input`);
  return dearest;
}

/** Returns the CPU time (ms) of the service's event loop per request: the lesser of two. */
async function cost({ url, pid }: Services['attacked'], request: AttackRequest): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 2; i += 1) {
    const before = cpuTime(pid);
    await sendOne(url, request);
    least = Math.min(least, cpuTime(pid) - before);
  }
  return least;
}

function cpuTime(pid: number): number {
  const [running] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(running) / 1e6;
}

/** Writes the table from which SECURITY.md and the lists of the dearest inputs come. */
function writeReport(
  name: string,
  rows: readonly { target: string; input: string; ms: number; ratio: number; failed: number }[],
): void {
  const folder = `${import.meta.dirname}/../../out`;
  mkdirSync(folder, { recursive: true });
  const lines = rows
    .toSorted((a, b) => b.ratio - a.ratio)
    .map(
      ({ target, input, ms, ratio, failed }) =>
        `| ${target} | ${input.replaceAll('|', '\\|')} | ${ms.toFixed(1)} | ${ratio.toFixed(2)} | ${failed} |`,
    );
  const head = [
    '| target | dearest input | CPU (ms) | others: ratio | failed |',
    '| --- | --- | --- | --- | --- |',
  ];
  writeFileSync(`${folder}/${name}`, `${[...head, ...lines].join('\n')}\n`);
}

interface RouteSettings {
  routes: readonly { method: string; path: string }[];
  /** Maximum characters of the path and query. */
  maxPath: number;
  /** Parameters that the service reads. */
  parameters: readonly string[];
  /** The query of a request that has no other input. */
  query?: string;
  /** Headers of every request. */
  headers?: () => Record<string, string>;
  /** The value of `:id` in a path. */
  id?: string;
  /** Bodies of a route; by default, a form and JSON of 64 KiB. */
  bodies?: Readonly<Record<string, Readonly<Record<string, Body>>>>;
}

export interface Body extends Pick<Place, 'size' | 'pieces'> {
  type: string;
  text?(text: string): string;
}

const encoded = ['%', '%&', 'a', 'a&', 'a=', '%cc%81', '+', '%2e', '/', '%20http://a.b/c', '(', '%ff%'];
const quoted = ['"', '"\\', '\\"', ',', ';', '=', ' a', 'a=', '/*', 'W/"', '%'];
const json = ['[', '{"a":', '{"title":"', '"', '\\', ',', '1,', '"a",', '\u0301\u0323'];

/** Headers that at least one service reads, and that nginx passes on. */
const headerNames = [
  ...['Accept', 'Authorization', 'CDN-Loop', 'Content-Type', 'Cookie', 'Idempotency-Key', 'If-Match'],
  ...['If-None-Match', 'Origin', 'Referer', 'Sec-Fetch-Site', 'Sec-Purpose', 'User-Agent'],
];

/** Maximum characters of a header. */
const maxHeader = 8 * 1024;

/** The bodies of a route without others. */
export const formAndJson = {
  form: { type: 'application/x-www-form-urlencoded', size: 64 * 1024, pieces: encoded },
  JSON: { type: 'application/json', size: 64 * 1024, pieces: json },
};

/** Returns the places of every route in a table of routes. A new route needs no change here. */
export function routeTargets(settings: RouteSettings): Targets {
  const names = new Map(settings.routes.map((route) => [nameOf(route), route]));
  // Middleware has no path of its own.
  names.delete('ALL /*');
  names.set('GET /nowhere/*', { method: 'GET', path: '/nowhere/*' });
  return Object.fromEntries([...names].map(([name, route]) => [name, placesOf(route, settings)]));
}

const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

function placesOf(
  { method: given, path }: { method: string; path: string },
  { maxPath, parameters, query = '', headers = () => ({}), id = '1', bodies = {} }: RouteSettings,
): Record<string, Place> {
  const method = given === 'ALL' ? 'PATCH' : given;
  const pathWith = (value: string) => path.replace(/:\w+|\*/, () => value);
  const plain = pathWith(id);
  const request = (target: string, more: Partial<AttackRequest> = {}): AttackRequest => ({
    method,
    path: target,
    ...more,
    headers: { ...headers(), ...more.headers },
  });
  const places: Record<string, Place> = {
    query: {
      size: maxPath - plain.length - 1,
      pieces: encoded,
      request: (text) => request(`${plain}?${text}`),
    },
  };
  for (const name of parameters) {
    const start = `${plain}?${name === 'u' ? '' : `${query}&`}${name}=`;
    places[`parameter ${name}`] = {
      size: maxPath - start.length,
      pieces: encoded,
      request: (text) => request(start + text),
    };
  }
  if (plain !== path) {
    places.path = {
      size: maxPath - path.length,
      pieces: encoded,
      request: (text) => request(pathWith(text)),
    };
  }
  const withHeaders = (headers: Record<string, string>) => request(`${plain}?${query}`, { headers });
  const withBody = (type: string, body: string) =>
    request(plain, { body, headers: { 'Content-Type': type } });
  return {
    ...places,
    ...headerPlaces(withHeaders),
    ...(method !== 'GET' && bodyPlaces(bodies[path] ?? formAndJson, withBody)),
  };
}

function headerPlaces(send: (headers: Record<string, string>) => AttackRequest): Record<string, Place> {
  const places = headerNames.map((name): [string, Place] => [
    `header ${name}`,
    { size: maxHeader, pieces: quoted, request: (text) => send({ [name]: text }) },
  ]);
  return Object.fromEntries(places);
}

function bodyPlaces(
  bodies: Readonly<Record<string, Body>>,
  send: (type: string, body: string) => AttackRequest,
): Record<string, Place> {
  const places = Object.entries(bodies).map(([name, body]): [string, Place] => {
    const { type, size, pieces, text: wrap = (text: string) => text } = body;
    return [name, { size, pieces, request: (text) => send(type, wrap(text)) }];
  });
  return Object.fromEntries(places);
}
