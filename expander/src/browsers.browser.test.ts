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
import { longhandEnds } from '../testing/browsers/longhand.ts';
import { methodLinks } from '../testing/browsers/methods.ts';
import { pageLinks } from '../testing/browsers/pages.ts';
import { policyLinks } from '../testing/browsers/policies.ts';
import { departures, redirectLinks } from '../testing/browsers/redirects.ts';
import { openStage, type Stage } from '../testing/browsers/stage.ts';
import { transportLinks } from '../testing/browsers/transport.ts';

const links = [
  ...redirectLinks,
  ...methodLinks,
  ...pageLinks,
  ...policyLinks,
  ...transportLinks,
  ...fileLinks,
  ...cookies,
  ...departures,
];

/** Number of links to follow in Chromium. Each link takes 40 ms of CPU time. Each response takes 2 ms. */
const count = rounds({ short: 12, long: links.length });
const responses = strangeResponses(rounds({ short: 50, long: 2_000 }));

let stage: Stage;
let browser: Browser;
let ends: string[];
beforeAll(async () => {
  stage = await openStage([...links.map(({ website }) => website), websiteOf(responses)]);
  browser = await openChromium(stage);
  ends = await longhandEnds(links, stage);
});
afterAll(async () => {
  await browser.close();
  stage.close();
});

test('every link ends as in the snapshot', () => {
  const lines = links.map(({ group, sent, chromium, reason }, index) => {
    const elsewhere = chromium ? ` (Chromium: ${chromium}; ${reason})` : '';
    return `${group}: ${sent} => ${ends[index]}${elsewhere}`;
  });
  expect(lines.join('\n').replace(/x{40,}/g, (run) => `x…x (${run.length} times)`)).toMatchSnapshot();
});

const duration = { timeout: 600_000 };
test(`Chromium and follow=all reach the same URL (${count} of ${links.length} links)`, duration, async () => {
  const expected = (index: number) => links[index]?.chromium ?? ends[index];
  const some = shuffled([...links.keys()]).slice(0, count);
  const follow = (indexes: readonly number[]) =>
    chromiumEnds(new Map([...links.entries()].filter(([index]) => indexes.includes(index))), browser);
  const theirs = await follow(some);
  // Retry links that differ, because a page may redirect late on a busy machine.
  const differing = some.filter((index) => theirs.get(index) !== expected(index));
  if (differing.length > 0) for (const [index, end] of await follow(differing)) theirs.set(index, end);
  const described = (end: (index: number) => string | undefined) =>
    some.map((index) => `${links[index]?.group}: ${links[index]?.sent} => ${end(index)}`);
  expect(described((index) => theirs.get(index))).toEqual(described(expected));
});

test(`Chromium reads ${responses.length} strange responses as Longhand does`, duration, async () => {
  const theirs = await chromiumReads(links.length, responses.length, browser);
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
