import { createHash, X509Certificate } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';

/** A website's response. Strings are in Latin-1. */
export interface Reply {
  status?: number;
  headers?: readonly (readonly [name: string, value: string])[];
  body?: string;
  /** The raw response. Overrides all other fields. */
  raw?: string;
}

/** A request that a website receives. */
export interface ReceivedRequest {
  method: string;
  host: string;
  /** Path and query. */
  path: string;
  cookie: string;
  encrypted: boolean;
}

export type Website = (request: ReceivedRequest) => Reply | 'reset' | 'silence';

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Returns the `User-Agent` by which the stage identifies a link. */
export const userAgentOf = (index: number): string => `link ${index}`;

/** Starts the websites of all links on two ports of 127.0.0.1. */
export async function openStage(websites: readonly Website[]) {
  const answer = (encrypted: boolean) => (request: http.IncomingMessage) => {
    const { method = '', url: path = '', headers, socket } = request;
    const { host = '', cookie = '', 'user-agent': userAgent = '' } = headers;
    const website = websites[Number(userAgent.slice(userAgentOf(0).length - 1))] as Website;
    const reply = website({ method, host, path, cookie, encrypted });
    if (reply === 'silence') return;
    if (reply === 'reset') return void socket.destroy();
    // Write to the socket, because Node refuses to send some of these headers.
    socket.end(Buffer.from(message(reply, method === 'HEAD'), 'latin1'));
  };
  const plain = http.createServer(answer(false));
  const certificate = await testCertificate();
  const secure = https.createServer(certificate, answer(true));
  const key = new X509Certificate(certificate.cert).publicKey.export({ type: 'spki', format: 'der' });
  return {
    port: await listening(plain),
    tlsPort: await listening(secure),
    /** The fingerprint of the certificate's key. */
    fingerprint: createHash('sha256').update(key).digest('base64'),
    close() {
      cutOff(plain);
      cutOff(secure);
    },
  };
}

function message({ status = 200, headers = [], body = '', raw }: Reply, headOnly: boolean): string {
  if (raw !== undefined) return raw;
  const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  // `no-store` prevents Chromium from reusing permanent redirects for the next link.
  const end = `Cache-Control: no-store\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  return `HTTP/1.1 ${status} Whatever\r\n${fields}${end}${headOnly ? '' : body}`;
}
