import { seed } from '@longhand/shared/testing/random.ts';
import { rounds } from '@longhand/shared/testing/rounds.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCounts, requesterOf } from '../expansion/expansion.ts';
import type { Slot } from './hop-queue.ts';
import { createSlots } from './slots.ts';

/** Creates slots for named hops. `started` lists the hops in the order they started. */
function naming(limits: Parameters<typeof createSlots>[0]) {
  const slots = createSlots(limits);
  const started: string[] = [];
  const held = new Map<string, Slot>();
  return {
    started,
    ask(requester: string, names: string, { origin = 'http://a.example', hasBegun = false } = {}) {
      for (const name of names.split(' ')) {
        const start = (slot: Slot) => {
          started.push(name);
          held.set(name, slot);
          slots.leave(requester, origin, start);
        };
        slots.join(requester, origin, start, hasBegun);
      }
    },
    end(...names: string[]) {
      for (const name of names) slots.release(held.get(name) as Slot);
    },
  };
}

describe('a free slot', () => {
  test('goes to the client with the fewest slots at the website', () => {
    const { started, ask, end } = naming({ atOrigin: 3 });
    ask('b', 'elsewhere1 elsewhere2', { origin: 'http://b.example' });
    ask('a', 'a1 a2 a3 a4');
    ask('b', 'b1 b2 b3');
    end('a1', 'a2', 'b1', 'a3');
    expect(started.slice(2)).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'b3']);
  });

  test('goes to the client with the fewest slots in total if no slot was free', () => {
    const { started, ask, end } = naming({ inAll: 4 });
    ask('a', 'a1 a2 a3');
    ask('b', 'b1');
    ask('a', 'a4', { origin: 'http://x.example' });
    ask('b', 'b2', { origin: 'http://y.example' });
    end('a1', 'a2');
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'a4']);
  });

  test('goes to the website where the client has the fewest slots', () => {
    const { started, ask, end } = naming({ ofClient: 3 });
    ask(requesterOf('a', 1), 'x1 x2 x3 x4 x5', { origin: 'http://x.example' });
    ask(requesterOf('a', 2), 'y1 y2', { origin: 'http://y.example' });
    end('x1', 'y1');
    expect(started).toEqual(['x1', 'x2', 'x3', 'y1', 'y2']);
  });

  test("goes to a client's single requests before its lists", () => {
    const any = naming({ ofClient: 2 });
    any.ask(requesterOf('a', 1), 'l1 l2 l3 l4');
    any.ask('a', 's1', { origin: 'http://y.example' });
    any.end('l1');
    expect(any.started).toEqual(['l1', 'l2', 's1']);
    const one = naming({ atOrigin: 1 });
    one.ask('b', 'b1');
    one.ask(requesterOf('a', 1), 'l1');
    one.ask('a', 's1');
    one.end('b1');
    expect(one.started).toEqual(['b1', 's1']);
  });

  test("alternates between a client's lists", () => {
    const { started, ask, end } = naming({ ofListsAtOrigin: 1 });
    ask(requesterOf('a', 1), 'x1 x2 x3');
    ask(requesterOf('a', 2), 'y1 y2');
    end('x1', 'x2', 'y1', 'x3');
    expect(started).toEqual(['x1', 'x2', 'y1', 'x3', 'y2']);
  });

  test('goes to a started chain before new chains of the same list', () => {
    const { started, ask, end } = naming({ atOrigin: 1 });
    ask(requesterOf('a', 1), 'x1 x2 x3');
    ask(requesterOf('a', 1), 'again', { hasBegun: true });
    end('x1');
    expect(started).toEqual(['x1', 'again']);
  });
});

test.each([
  ['of one client', { waitingOfClient: 1 }, 'a'],
  ['of all clients', { waiting: 1 }, 'b'],
])('waiting hops of single requests %s are limited', (_, limits, client) => {
  const slots = createSlots({ atOrigin: 1, ...limits });
  const join = (requester: string) => slots.join(requester, 'http://a.example', () => {});
  const joined = ['a', 'a', client, requesterOf(client, 1)].map(join);
  expect(joined).toEqual([true, true, false, true]);
});

test.each([
  ['at one website', (i: number) => [`client${i}`, 'http://a.example']],
  ['of one client', (i: number) => [requesterOf('a', i % 16), `http://${i}.example`]],
  [
    'of clients that hold all slots',
    (i: number) => [requesterOf(`client${i % 8}`, i % 16), `http://${i}.example`],
  ],
  ['at websites with no free slot', (i: number) => [`client${i}`, `http://${i % 16}.example`]],
] as const)('releasing a slot takes constant time for any number of waiting hops %s', (_, requesterOfHop) => {
  const looksWith = (waiting: number) => {
    let looks = 0;
    const counts = createCounts();
    const looking = { ...counts, count: (name: string) => ++looks && counts.count(name) };
    const slots = createSlots({ waiting, waitingOfClient: waiting }, looking);
    const held: Slot[] = [];
    for (let i = 0; i < waiting; i += 1) {
      const [requester, origin] = requesterOfHop(i);
      const start = (slot: Slot) => void held.push(slot);
      slots.join(requester as string, origin as string, start, false);
    }
    looks = 0;
    for (const slot of held.slice(0, 50)) slots.release(slot);
    return looks;
  };
  expect(looksWith(8_000)).toBeLessThan(2 * looksWith(2_000));
});

test('createSlots() neither exceeds a limit nor leaves a free slot unused', () => {
  const limits = {
    inAll: 5,
    atOrigin: 3,
    ofClient: 3,
    ofClientAtOrigin: 2,
    ofListsAtOrigin: 1,
    waiting: 9,
    waitingOfClient: 4,
  };
  const requesters = fc.constantFrom(
    'a',
    'b',
    'c',
    requesterOf('a', 1),
    requesterOf('a', 2),
    requesterOf('b', 3),
  );
  const step = fc.record({
    what: fc.constantFrom('arrive', 'arrive', 'arrive', 'arrive', 'join', 'leave', 'abort', 'end', 'end'),
    requesters: fc.uniqueArray(requesters, { minLength: 1, maxLength: 3 }),
    origin: fc.constantFrom('http://x', 'http://y', 'http://z'),
    hasBegun: fc.boolean(),
    which: fc.nat(),
  });
  type Hop = { origin: string; waitsIn: Set<string>; slot?: Slot; start(slot: Slot): void };
  fc.assert(
    fc.property(fc.array(step, { minLength: 40, maxLength: 120 }), (steps) => {
      const counts = createCounts();
      const slots = createSlots(limits, counts);
      const hops = new Set<Hop>();
      const inFlight = () => [...hops].filter(({ slot }) => slot);
      const held = (test: (slot: Slot) => boolean) =>
        inFlight().filter(({ slot }) => test(slot as Slot)).length;
      /** The hops in flight that each limit counts together with a hop of this client, origin and kind. */
      const counted = ({ client, origin, isList }: Pick<Slot, 'client' | 'origin' | 'isList'>) => {
        const own = (slot: Slot) => slot.client === client && slot.origin === origin;
        return {
          inAll: held(() => true),
          atOrigin: held((slot) => slot.origin === origin),
          ofClient: held((slot) => slot.client === client),
          ofClientAtOrigin: held(own),
          ofListsAtOrigin: isList ? held((slot) => own(slot) && slot.isList) : 0,
        };
      };
      const names = ['inAll', 'atOrigin', 'ofClient', 'ofClientAtOrigin', 'ofListsAtOrigin'] as const;
      const exceeded = (slot: Slot) => names.filter((name) => counted(slot)[name] > limits[name]);
      const mayStart = (requester: string, origin: string) => {
        const [client = '', list] = requester.split('#');
        const counts = counted({ client, origin, isList: list !== undefined });
        return names.every((name) => counts[name] < limits[name]);
      };
      const leave = ({ origin, waitsIn, start }: Hop, requesters: string[]) => {
        for (const requester of requesters)
          if (waitsIn.delete(requester)) slots.leave(requester, origin, start);
      };
      const join = (hop: Hop, requesters: string[], hasBegun: boolean) => {
        for (const requester of requesters) {
          if (hop.slot || hop.waitsIn.has(requester)) continue;
          if (slots.join(requester, hop.origin, hop.start, hasBegun) && !hop.slot) hop.waitsIn.add(requester);
        }
      };
      const remove = (hop: Hop) => {
        leave(hop, [...hop.waitsIn]);
        hops.delete(hop);
        if (hop.slot) slots.release(hop.slot);
      };
      for (const { what, requesters, origin, hasBegun, which } of steps) {
        const waiting = [...hops].filter(({ slot }) => !slot);
        const one = waiting[which % waiting.length];
        const ending = inFlight()[which % inFlight().length];
        if (what === 'arrive') {
          const hop: Hop = {
            origin,
            waitsIn: new Set(),
            start(slot) {
              expect(hop.slot).toBeUndefined();
              leave(hop, [...hop.waitsIn]);
              hop.slot = slot;
            },
          };
          hops.add(hop);
          join(hop, requesters, hasBegun);
          if (!hop.slot && hop.waitsIn.size === 0) hops.delete(hop);
        } else if (what === 'join' && one) join(one, requesters, hasBegun);
        else if (what === 'leave' && one && one.waitsIn.size > 1) leave(one, [...one.waitsIn].slice(0, 1));
        else if (what === 'abort' && one) remove(one);
        else if (what === 'end' && ending) remove(ending);
        for (const { slot } of inFlight()) {
          const over = exceeded(slot as Slot);
          if (over.length > 0) throw new Error(`${over} exceeded`);
        }
        const free = [...hops].flatMap((hop) =>
          [...hop.waitsIn].filter((requester) => mayStart(requester, hop.origin)),
        );
        if (free.length > 0) throw new Error(`${free} wait although a slot is free`);
      }
      for (const hop of hops) remove(hop);
      expect([...counts.names()]).toEqual([]);
      expect(slots.isEmpty()).toBe(true);
    }),
    { seed, numRuns: rounds({ short: 200, long: 50_000 }) },
  );
});
