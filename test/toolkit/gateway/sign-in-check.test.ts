import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { checkSignIn } from '../../../src/lib/toolkit/gateway/sign-in-check.ts';
import { PASSWORD, startServer } from '../../operator/server.ts';
import { verdictsOf } from '../kit.ts';
import { context, type FakeOperator, startFakeOperator } from '../operator/fake-operator.ts';

async function against(change: (fake: FakeOperator) => void, password = 'correct horse') {
  await using fake = await startFakeOperator();
  change(fake);
  return verdictsOf((await checkSignIn(fake.toolkit, { password }, context())).findings);
}

describe('signing in and out, from outside', () => {
  it('is ok on the operator server itself, and leaves no session', async () => {
    await using server = await startServer({ password: true });
    const toolkit = {
      site: { ...server.site, operator: { ...server.site.operator, port: server.full } },
      dialer: directDialer,
      clock: systemClock,
    };
    const { findings } = await checkSignIn(toolkit, { password: PASSWORD }, context());
    expect(verdictsOf(findings)).toEqual({ closed: 'ok', 'wrong-password': 'ok', 'sign-in': 'ok', 'sign-out': 'ok' });
    const without = await startServer();
    await using _ = without;
    const port = without.full;
    const open = { ...toolkit, site: { ...without.site, operator: { ...without.site.operator, port } } };
    const none = (await checkSignIn(open, { password: PASSWORD }, context())).findings;
    expect(verdictsOf(none)).toMatchObject({
      'wrong-password': 'wrong',
      'sign-in': 'wrong',
      'sign-out': 'not-checked',
    });
    expect(none[1]?.remedy).toContain('gw operator password');
  });

  it('is wrong where the given password is not that of the device', async () => {
    expect(await against(() => {}, 'another')).toEqual({
      closed: 'ok',
      'wrong-password': 'ok',
      'sign-in': 'wrong',
      'sign-out': 'not-checked',
    });
  });

  it('is wrong where any password signs in', async () => {
    const found = await against((fake) => {
      fake.override = ({ method, url }) =>
        method === 'POST' && url === '/api/anmeldung' ? [200, { signedIn: true }] : undefined;
    }).catch((error: unknown) => String(error));
    // Without a cookie there is no session, and the answer is not one of the operator server.
    expect(found).toContain('Unexpected answer at the address of the operator server');
  });

  it('is wrong where a wrong password signs in as well', async () => {
    const found = await against((fake) => {
      fake.override = ({ method, url }, body) =>
        method === 'POST' && url === '/api/anmeldung' && !body.includes('correct horse') ? [200, {}] : undefined;
    });
    expect(found).toMatchObject({ 'wrong-password': 'wrong', 'sign-in': 'ok' });
  });

  it('is wrong where a protected route is open without a session', async () => {
    const found = await against((fake) => {
      fake.override = ({ url }) => (url === '/api/einstellungen' ? [200, {}] : undefined);
    });
    expect(found).toMatchObject({ closed: 'wrong', 'sign-out': 'wrong' });
  });

  it('is wrong where a session outlives signing out', async () => {
    const found = await against((fake) => {
      fake.override = ({ method, url }) =>
        method === 'DELETE' && url === '/api/anmeldung' ? [200, { signedIn: false }] : undefined;
    });
    expect(found).toEqual({ closed: 'ok', 'wrong-password': 'ok', 'sign-in': 'ok', 'sign-out': 'wrong' });
  });

  it('is not checked where wrong attempts of other clients have used up the limit', async () => {
    const found = await against((fake) => {
      fake.override = ({ method, url }) =>
        method === 'POST' && url === '/api/anmeldung'
          ? [429, { error: { code: 'TOO_MANY_TRIES', message: 'Too many wrong tries.' } }]
          : undefined;
    });
    expect(found).toMatchObject({
      'wrong-password': 'not-checked',
      'sign-in': 'not-checked',
      'sign-out': 'not-checked',
    });
  });
});
