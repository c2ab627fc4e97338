import { shuffled } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumEnds, openChromium } from '../testing/browsers/chromium.ts';
import { cookies } from '../testing/browsers/cookies.ts';
import { fileLinks } from '../testing/browsers/files.ts';
import {
  acceptedHeads,
  chromiumReads,
  longhandReads,
  strangeResponses,
  websiteOf,
} from '../testing/browsers/heads.ts';
import { http2Links } from '../testing/browsers/http2.ts';
import { type Link, overHttp2 } from '../testing/browsers/link.ts';
import { longhandEnds } from '../testing/browsers/longhand.ts';
import { methodLinks } from '../testing/browsers/methods.ts';
import { encodingLinks, pageLinks } from '../testing/browsers/pages.ts';
import { policyLinks } from '../testing/browsers/policies.ts';
import { departures, http1Links, redirectLinks } from '../testing/browsers/redirects.ts';
import { referrerLinks } from '../testing/browsers/referrers.ts';
import { openStage, type Protocol, type Stage } from '../testing/browsers/stage.ts';
import { transportLinks } from '../testing/browsers/transport.ts';
import { wellKnownLinks } from '../testing/browsers/well-known.ts';

/** Links to websites that can speak both protocols. */
const common = [
  ...redirectLinks,
  ...methodLinks,
  ...pageLinks,
  ...policyLinks,
  ...fileLinks,
  ...cookies,
  ...referrerLinks,
  ...wellKnownLinks,
];
const links = [
  ...common,
  ...http1Links,
  ...encodingLinks,
  ...transportLinks,
  ...departures,
  ...overHttp2([...common, ...encodingLinks.filter(({ chromium }) => !chromium)]),
  ...http2Links,
];

/** Number of links to follow in Chromium. Each link takes 40 ms of CPU time. Each response takes 2 ms. */
const count = rounds({ short: 12, long: links.length });
const responses = strangeResponses(rounds({ short: 50, long: 2_000 }));

let stage: Stage;
let browsers: Record<Protocol, Browser>;
let ends: string[];
beforeAll(async () => {
  stage = await openStage([...links.map(({ website }) => website), websiteOf(responses)]);
  const opened = (protocol: Protocol) => openChromium(stage, protocol);
  browsers = { 'HTTP/1.1': await opened('HTTP/1.1'), 'HTTP/2': await opened('HTTP/2') };
  ends = await longhandEnds(links, stage);
});
afterAll(async () => {
  for (const browser of Object.values(browsers)) await browser.close();
  stage.close();
});

/** Whether the link ends as over HTTP/1.1, except that it starts with https. */
function endsAsOverHttp1({ overHttp1 }: Link, end: string | undefined): boolean {
  const asHttp = (url = '') => url.replace(/https:/, 'http:');
  return overHttp1 !== undefined && asHttp(end) === asHttp(ends[links.indexOf(overHttp1)]);
}

test('every link ends as in the snapshot, which has links over HTTP/2 only if they end elsewhere', () => {
  const lines = links.flatMap((link, index) => {
    const { group, sent, chromium, reason } = link;
    const end = ends[index];
    if (endsAsOverHttp1(link, end)) return [];
    const elsewhere = chromium ? ` (Chromium: ${chromium}; ${reason})` : '';
    return `${group}: ${sent} => ${end}${elsewhere}`;
  });
  expect(lines.join('\n').replace(/x{40,}/g, (run) => `x…x (${run.length} times)`)).toMatchSnapshot();
});

const duration = { timeout: 600_000 };
test.each<Protocol>(['HTTP/1.1', 'HTTP/2'])(
  `Chromium and follow=all reach the same URL over %s (${count} links at most)`,
  duration,
  async (protocol) => {
    const expected = (index: number) => links[index]?.chromium ?? ends[index];
    const all = links.flatMap(({ protocol: own = 'HTTP/1.1' }, index) => (own === protocol ? index : []));
    const some = shuffled(all).slice(0, count);
    const follow = (indexes: readonly number[]) =>
      chromiumEnds(new Map(indexes.map((index) => [index, links[index] as Link])), browsers[protocol]);
    const theirs = await follow(some);
    // Retry links that differ, because a page may redirect late on a busy machine.
    const differing = some.filter((index) => theirs.get(index) !== expected(index));
    if (differing.length > 0) for (const [index, end] of await follow(differing)) theirs.set(index, end);
    const described = (end: (index: number) => string | undefined) =>
      some.map((index) => `${links[index]?.group}: ${links[index]?.sent} => ${end(index)}`);
    expect(described((index) => theirs.get(index))).toEqual(described(expected));
  },
);

test(`Chromium reads ${responses.length} strange responses as Longhand does`, duration, async () => {
  const theirs = await chromiumReads(links.length, responses.length, browsers['HTTP/1.1']);
  const differing = responses.flatMap((response, index) => {
    const [ours, chromium] = [longhandReads(response), theirs[index]];
    if (ours === chromium || acceptedHeads.some(({ shows }) => shows.test(response))) return [];
    return [{ response, ours, chromium }];
  });
  expect(differing).toEqual([]);
});

test('every accepted difference has a reason', () => {
  const ofLinks = links.flatMap(({ sent, chromium, reason }) => (chromium ? [`${sent}: ${reason}`] : []));
  console.info([...ofLinks, ...acceptedHeads.map(({ reason }) => reason)].join('\n'));
  expect(links.filter(({ chromium, reason }) => chromium && !reason)).toEqual([]);
});
