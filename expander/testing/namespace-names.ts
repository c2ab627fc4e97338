import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import { createLog } from '@longhand/shared/log.ts';
import ip from 'ipaddr.js';
import { readConfig } from '../src/config.ts';
import { createExpansion } from '../src/expander.ts';
import { setUpResolver } from '../src/guard/resolver.ts';

/**
 * Runs in a network namespace of its own, whose loopback interface has these addresses: expands a URL of each
 * name by the system's resolver, and writes how each ended and who was dialled as one line of JSON.
 */
const publicAddresses = ['93.184.216.34', '2606:2800:220:1::1'];
const privateAddresses = ['10.0.0.1', 'fd00::1'];

type DnsRecord = readonly [type: keyof typeof types, data: string];
const types = { A: 1, CNAME: 5, AAAA: 28 };

/** Names of which the name server says nothing. */
const silent = /^silent/;

/** What each name says; a list of lists is an answer for each time that it is asked. */
const zone: Record<string, DnsRecord[][]> = {
  'v4.example': [[['A', '93.184.216.34']]],
  'v6.example': [[['AAAA', '2606:2800:220:1::1']]],
  'mixed.example': [
    [
      ['A', '93.184.216.34'],
      ['A', '10.0.0.1'],
    ],
  ],
  'other-family.example': [
    [
      ['A', '93.184.216.34'],
      ['AAAA', 'fd00::1'],
    ],
  ],
  'alias.example': [
    [
      ['CNAME', 'inside.example'],
      ['A', '10.0.0.1'],
    ],
  ],
  'rebound.example': [[['A', '93.184.216.34']], [['A', '10.0.0.1']]],
};

const dialled: string[] = [];
for (const address of [...publicAddresses, ...privateAddresses]) {
  const web = createServer((request, response) => {
    // The connection is closed, so that the redirect is dialled, and looked up, anew.
    response.setHeader('Connection', 'close');
    if (request.url === '/') response.writeHead(302, { Location: '/next' });
    response.end();
  });
  web.on('connection', () => dialled.push(address));
  await new Promise<void>((resolve) => web.listen(80, address, resolve));
}
await startNameServer();

setUpResolver();
const { expand } = createExpansion(readConfig({}), { log: createLog('expander', 'silent') });
const ends: Record<string, unknown> = {};
for (const name of Object.keys(zone)) {
  dialled.length = 0;
  const { end, redirectCount } = await expand.trace(`http://${name}/`);
  ends[name] = { end: end.code, redirectCount, dialled: [...dialled] };
}
// More names without an answer than are looked up at a time, and one that has an answer.
const leave = new AbortController();
const unanswered = Array.from({ length: 80 }, (_, i) =>
  expand.trace(`http://silent-${i}.example/`, { signal: leave.signal }),
);
ends['beside silence'] = (await expand.trace('http://v4.example/beside-silence')).end.code;
leave.abort();
await Promise.all(unanswered);
process.stdout.write(`${JSON.stringify(ends)}\n`, () => process.exit());

/** A name server for `zone` on 127.0.0.1:53 (RFC 1035 section 4). */
async function startNameServer(): Promise<void> {
  const asked = new Map<string, number>();
  const server = createSocket('udp4', (query, from) => {
    const { name, type, end } = question(query);
    if (silent.test(name)) return;
    const times = zone[name] ?? [];
    const key = `${type} ${name}`;
    const turn = asked.get(key) ?? 0;
    asked.set(key, turn + 1);
    const records = (times[Math.min(turn, times.length - 1)] ?? []).filter(
      ([kind]) => kind === 'CNAME' || types[kind] === type,
    );
    const header = Buffer.from(query.subarray(0, 12));
    // An authoritative answer, recursion available; one question, and nothing after the answers.
    header.writeUInt16BE(zone[name] ? 0x8580 : 0x8583, 2);
    [1, records.length, 0, 0].forEach((count, i) => void header.writeUInt16BE(count, 4 + 2 * i));
    let owner = name;
    const answers = records.map(([kind, data]) => {
      const record = encodeRecord(owner, kind, data);
      if (kind === 'CNAME') owner = data;
      return record;
    });
    server.send(Buffer.concat([header, query.subarray(12, end), ...answers]), from.port, from.address);
  });
  await new Promise<void>((resolve) => server.bind(53, '127.0.0.1', resolve));
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function encodeRecord(owner: string, kind: DnsRecord[0], data: string): Buffer {
  const value = kind === 'CNAME' ? encodeName(data) : encodeAddress(data);
  const fields = Buffer.alloc(10); // type, class IN, a time to live of 0, length
  fields.writeUInt16BE(types[kind], 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt16BE(value.length, 8);
  return Buffer.concat([encodeName(owner), fields, value]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function encodeAddress(address: string): Buffer {
  return Buffer.from(ip.parse(address).toByteArray());
}
