import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { listening } from '@longhand/shared/testing/listening.ts';
import ip from 'ipaddr.js';

/** A name server's reply: nothing, or a response code and addresses. */
export type Reply = 'silence' | { addresses?: string[]; rcode?: number; milliseconds?: number };

/** Response codes (RFC 1035, section 4.1.1). */
export const rcodes = { SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 };

interface Question {
  name: string;
  family: 4 | 6;
}

/** Bytes of a response over UDP (RFC 1035, section 2.3.4). Longer ones are truncated. */
const maxDatagram = 512;

/**
 * A name server over UDP and TCP.
 *
 * @param reply is called with each question. The response includes only its addresses of the question's family.
 * @param port 0 picks a free one.
 */
export async function startNameServer(reply: (question: Question) => Reply, host = '127.0.0.1', port = 0) {
  const asked: string[] = [];
  let closed = false;
  const answer = async (query: Buffer, protocol: string, send: (response: Buffer) => void) => {
    const question = readQuestion(query);
    asked.push(`${protocol} ${question.name} ${question.family}`);
    const said = reply(question);
    if (said === 'silence') return;
    const response = respond(query, question, said);
    if (said.milliseconds) await setTimeout(said.milliseconds);
    if (closed) return;
    send(response);
  };
  const tcp = createServer((socket) =>
    socket
      .on('data', (message: Buffer) =>
        answer(message.subarray(2), 'TCP', (response) =>
          socket.write(Buffer.concat([word(response.length), response])),
        ),
      )
      .on('error', () => {}),
  );
  const taken = await listening(tcp, host, port);
  const udp = createSocket('udp4', (query, { port, address }) =>
    answer(query, 'UDP', (response) => {
      if (response.length <= maxDatagram) return udp.send(response, port, address);
      const cut = Buffer.concat([query.subarray(0, 2), word(0x8380), word(1), word(0), word(0), word(0)]);
      udp.send(Buffer.concat([cut, query.subarray(12)]), port, address);
    }),
  );
  udp.bind(taken, host);
  await once(udp, 'listening');
  return {
    /** As `dns.setServers` takes it. */
    server: `${host}:${taken}`,
    /** All questions so far, such as `UDP a.example 4`. */
    asked,
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

/** The header, the question as it was asked, and an answer for each address, whose name points to the question's. */
function respond(
  query: Buffer,
  { family }: Question,
  { addresses = [], rcode = 0 }: Exclude<Reply, string>,
): Buffer {
  const told = addresses.filter((address) => address.includes(':') === (family === 6)).map(bytesOf);
  const header = [query.subarray(0, 2), word(0x8180 | rcode), word(1), word(told.length), word(0), word(0)];
  const answers = told.flatMap((bytes) =>
    [0xc00c, types[family], 1, 0, 60, bytes.length].map(word).concat(bytes),
  );
  return Buffer.concat([...header, query.subarray(12), ...answers]);
}

function bytesOf(address: string): Buffer {
  return Buffer.from(ip.parse(address).toByteArray());
}

function word(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}
