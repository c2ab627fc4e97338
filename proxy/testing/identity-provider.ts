import { generateKeyPairSync, sign } from 'node:crypto';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';

/** An OpenID Connect provider on 127.0.0.1 for whom every visitor is `email`: as little of one as oauth2-proxy needs. */
export async function startIdentityProvider(email: string) {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const nonces = new Map<string, string>();
  let issuer = '';
  const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const idToken = (nonce: string | undefined) => {
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer, sub: '1', aud: 'longhand', iat: now, exp: now + 600, nonce };
    const signed = `${base64({ alg: 'RS256', kid: '1' })}.${base64({ ...claims, email, email_verified: true })}`;
    return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
  };
  const answers: Record<string, (query: URLSearchParams) => object> = {
    '/.well-known/openid-configuration': () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      id_token_signing_alg_values_supported: ['RS256'],
    }),
    '/keys': () => ({
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256', use: 'sig' }],
    }),
    '/token': (body) => ({
      access_token: 'access',
      token_type: 'Bearer',
      expires_in: 600,
      id_token: idToken(nonces.get(body.get('code') ?? '')),
    }),
  };
  const server = http.createServer(async (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', issuer);
    if (pathname === '/authorize') {
      const code = `code-${nonces.size}`;
      nonces.set(code, query.get('nonce') ?? '');
      const back = new URL(query.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code, state: query.get('state') ?? '' }).toString();
      return response.writeHead(302, { Location: back.href }).end();
    }
    const answer = answers[pathname]?.(new URLSearchParams(await text(request)));
    response.writeHead(answer ? 200 : 404, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  issuer = `http://127.0.0.1:${await listening(server)}`;
  return { issuer, stop: () => cutOff(server) };
}
