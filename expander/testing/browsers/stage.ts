import { createHash, X509Certificate } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { testCertificate } from '@longhand/shared/testing/certificate.ts';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';

/** A website's response. Strings hold bytes as Latin-1. */
export interface Reply {
  status?: number;
  headers?: readonly (readonly [name: string, value: string])[];
  body?: string;
  /** The raw response, instead of the fields above. */
  raw?: string;
}

/** A request, as a website sees it. */
export interface Asked {
  method: string;
  host: string;
  /** The path, with the query. */
  path: string;
  cookie: string;
  encrypted: boolean;
}

export type Website = (asked: Asked) => Reply | 'reset' | 'silence';

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** The `User-Agent` of a client that follows a link. The stage identifies the link by it. */
export const userAgentOf = (index: number): string => `link ${index}`;

/** Starts a stage: it plays the websites of all links, at two ports of 127.0.0.1. */
export async function openStage(websites: readonly Website[]) {
  const answer = (encrypted: boolean) => (request: http.IncomingMessage) => {
    const { method = '', url: path = '', headers, socket } = request;
    const { host = '', cookie = '', 'user-agent': userAgent = '' } = headers;
    const website = websites[Number(userAgent.slice(userAgentOf(0).length - 1))] as Website;
    const reply = website({ method, host, path, cookie, encrypted });
    if (reply === 'silence') return;
    if (reply === 'reset') return void socket.destroy();
    // Node would refuse to send some of these headers.
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
  // Without no-store, Chromium would remember permanent redirects for the next link.
  const end = `Cache-Control: no-store\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  return `HTTP/1.1 ${status} Whatever\r\n${fields}${end}${headOnly ? '' : body}`;
}
