import {
  followsDescription,
  needSchemathesis,
  schemathesisTimeout as timeout,
} from '@longhand/shared/testing/schemathesis.ts';
import { test } from 'vitest';
import { scriptedApp, to } from '../../testing/scripted-web.ts';
import { serving } from '../../testing/serving.ts';

test('the API conforms to its OpenAPI description', { timeout }, async (context) => {
  needSchemathesis(context);
  // The test contacts only these websites.
  const web = { 'https://example.com/': to('http://end.example/', 302), 'http://end.example/': {} };
  const { url } = await serving(scriptedApp(web));
  await followsDescription(url, 'expander');
});
