import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { listening } from '@longhand/shared/testing/listening.ts';
import ip from 'ipaddr.js';

export type Reply = 'silence' | { addresses?: string[]; rcode?: number; milliseconds?: number };

/** Response codes (RFC 1035, section 4.1.1). */
export const rcodes = { SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 };

type Question = { name: string; family: 4 | 6 };

/** Maximum bytes of a response over UDP (RFC 1035, section 2.3.4). */
const maxDatagram = 512;

/**
 * Starts a name server on UDP and TCP.
 *
 * @param reply returns the reply to a query. The response contains only addresses of the query's family.
 * @param port 0 picks a free port.
 */
export async function startNameServer(reply: (question: Question) => Reply, host = '127.0.0.1', port = 0) {
  const queries: string[] = [];
  let closed = false;
  const answer = async (query: Buffer, protocol: string, send: (response: Buffer) => void) => {
    const question = readQuestion(query);
    queries.push(`${protocol} ${question.name} ${question.family}`);
    const replied = reply(question);
    if (replied === 'silence') return;
    if (replied.milliseconds) await setTimeout(replied.milliseconds);
    if (!closed) send(respond(query, question, replied));
  };
  const tcp = createServer((socket) => {
    const send = (response: Buffer) => socket.write(Buffer.concat([words(response.length), response]));
    socket.on('data', (message: Buffer) => answer(message.subarray(2), 'TCP', send)).on('error', () => {});
  });
  const taken = await listening(tcp, host, port);
  const udp = createSocket('udp4', (query, { port, address }) =>
    answer(query, 'UDP', (response) => {
      const truncated = Buffer.concat([query.subarray(0, 2), words(0x8380, 1, 0, 0, 0), query.subarray(12)]);
      udp.send(response.length <= maxDatagram ? response : truncated, port, address);
    }),
  );
  udp.bind(taken, host);
  await once(udp, 'listening');
  return {
    /** Address and port in the format of `dns.setServers`. */
    server: `${host}:${taken}`,
    /** All queries so far, such as `UDP a.example 4`. */
    queries,
    close() {
      closed = true;
      udp.close();
      tcp.close();
    },
  };
}

function readQuestion(query: Buffer): Question {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), family: query.readUInt16BE(at + 1) === types[4] ? 4 : 6 };
}

const types = { 4: 1, 6: 28 };

/** Encodes a response with a record for each address. */
function respond(query: Buffer, { family }: Question, { addresses = [], rcode = 0 }: Exclude<Reply, string>) {
  const answers = addresses
    .filter((address) => address.includes(':') === (family === 6))
    .map((address) => Buffer.from(ip.parse(address).toByteArray()))
    .map((bytes) => Buffer.concat([words(0xc00c, types[family], 1, 0, 60, bytes.length), bytes]));
  const header = words(0x8180 | rcode, 1, answers.length, 0, 0);
  return Buffer.concat([query.subarray(0, 2), header, query.subarray(12), ...answers]);
}

/** Encodes 16-bit numbers in network byte order. */
const words = (...values: number[]) => Buffer.from(values.flatMap((value) => [value >> 8, value & 0xff]));
