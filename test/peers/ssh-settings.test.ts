import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { Ssh, SshOptions } from '../../src/lib/net/index.ts';
import { parseSshConfig, settingsOf } from '../../src/lib/net/ssh/config/config.ts';
import { readSshConfig } from '../../src/lib/net/ssh/config/read-config.ts';
import { openSsh } from '../../src/lib/net/ssh/index.ts';
import { errorOf, temporaryHome } from '../net/ssh/ssh-server.ts';
import { HANG_MS } from '../waiting.ts';
import { hasProgram } from './peer.ts';
import { makeKey, type Sshd, startSshd } from './sshd.ts';

const optionsFor = (sshd: Sshd, more: Partial<SshOptions> = {}): SshOptions => ({
  ...{ homeDir: sshd.home, localUser: sshd.user, agentSocket: null, person: null },
  ...{ systemKnownHostsFile: '/dev/null', timeoutMs: HANG_MS, ...more },
});
const targetOf = (sshd: Sshd) => `${sshd.user}@127.0.0.1:${sshd.port}`;

async function outputOf(ssh: Ssh, ...argv: string[]) {
  const program = await ssh.exec(argv);
  program.stderr.resume();
  return await text(program.stdout);
}

describe.skipIf(!hasProgram('sshd') || !hasProgram('ssh-keygen'))('a real OpenSSH server', () => {
  it('that allows one session at a time runs programs one after the other', async () => {
    await using sshd = await startSshd({ config: ['MaxSessions 1'] });
    sshd.trust();
    await using ssh = await openSsh(targetOf(sshd), optionsFor(sshd));
    // The first of them meets the no-op program after the login.
    expect(await outputOf(ssh, 'echo', 'first')).toBe('first\n');
    const both = await Promise.all([outputOf(ssh, 'echo', 'second'), outputOf(ssh, 'echo', 'third')]);
    expect(both).toEqual(['second\n', 'third\n']);
  });

  it('that allows no session refuses a program, by its name', async () => {
    await using sshd = await startSshd({ config: ['MaxSessions 0'] });
    sshd.trust();
    await using ssh = await openSsh(targetOf(sshd), optionsFor(sshd));
    expect(await errorOf(ssh.exec(['true']))).toMatchObject({
      code: 'SSH_CHANNEL_REFUSED',
      message: expect.stringContaining('Program refused by'),
    });
  });

  it.each(['lines', 'list'])('with a key of RevokedHostKeys (%s) is rejected, although it is known', async (form) => {
    await using sshd = await startSshd();
    sshd.trust();
    const revoked = join(sshd.home, 'revoked');
    const key = join(sshd.dir, 'host_ed25519.pub');
    if (form === 'list') execFileSync('ssh-keygen', ['-k', '-f', revoked, key]);
    else execFileSync('cp', [key, revoked]);
    writeFileSync(join(sshd.home, '.ssh', 'config'), 'RevokedHostKeys ~/revoked\n', { mode: 0o600 });
    expect(await errorOf(openSsh(targetOf(sshd), optionsFor(sshd)))).toMatchObject({
      code: 'SSH_HOST_KEY_REVOKED',
      message: expect.stringContaining(revoked),
    });
    makeKey(join(sshd.dir, 'other'));
    if (form === 'list') execFileSync('ssh-keygen', ['-k', '-f', revoked, join(sshd.dir, 'other.pub')]);
    else execFileSync('cp', [join(sshd.dir, 'other.pub'), revoked]);
    await using ssh = await openSsh(targetOf(sshd), optionsFor(sshd));
    expect(ssh.where).toBe(targetOf(sshd));
    execFileSync('rm', [revoked]);
    expect((await errorOf(openSsh(targetOf(sshd), optionsFor(sshd)))).code).toBe('FILE_UNREADABLE');
  });

  it.each(['rsa', 'ecdsa'] as const)('accepts a PKCS#8 key of type %s, also an encrypted one', async (type) => {
    await using sshd = await startSshd();
    sshd.trust();
    const file = join(sshd.home, '.ssh', `pkcs8_${type}`);
    makeKey(file, type);
    sshd.authorize(`${file}.pub`);
    writeFileSync(join(sshd.home, '.ssh', 'config'), `IdentityFile ~/.ssh/pkcs8_${type}\nIdentitiesOnly yes\n`, {
      mode: 0o600,
    });
    const rewrite = (from: string, to: string) =>
      execFileSync('ssh-keygen', ['-q', '-p', '-m', 'PKCS8', '-P', from, '-N', to, '-f', file]);
    rewrite('', '');
    await using plain = await openSsh(targetOf(sshd), optionsFor(sshd));
    expect(plain.where).toBe(targetOf(sshd));
    rewrite('', 'open sesame');
    execFileSync('rm', [`${file}.pub`]);
    const asked: string[] = [];
    const person = {
      trustHostKey: async () => false,
      async askSecret({ text }: { readonly text: string }) {
        asked.push(text);
        return 'open sesame';
      },
    };
    await using opened = await openSsh(targetOf(sshd), optionsFor(sshd, { person }));
    expect(opened.where).toBe(targetOf(sshd));
    expect(asked).toEqual([`Passphrase for the key pkcs8_${type}: `]);
  });
});

describe.skipIf(!hasProgram('ssh'))('the settings of a host are those of ssh -G', () => {
  /** The values of OpenSSH by their keyword. */
  function asOpenSsh(config: string): Record<string, string> {
    const output = execFileSync('ssh', ['-G', '-F', config, 'robot'], { encoding: 'utf8' });
    return Object.fromEntries(output.split('\n').map((line) => [line.split(' ')[0], line.replace(/^\S+ /, '')]));
  }
  const { homedir, username } = userInfo();

  it.each([
    '$H/*/config',
    '$H/d[12]/config',
    '$H/d[!1]/conf?g',
    '$H/d[1-3]/*',
    '$H/d*',
    '$H/d1',
    '$H/d[',
    '$H/\\d2/config',
  ])('Include %s', async (word) => {
    using folder = temporaryHome();
    const top = join(folder.home, '.ssh');
    for (const name of ['d1', 'd2', 'd3']) mkdirSync(join(top, name), { mode: 0o755 });
    folder.write('d1/config', 'Port 2001\n');
    folder.write('d2/config', 'User two\nPort 2002\n');
    folder.write('d3/config', 'HostName three.example\nUser three\n');
    folder.write('config', `Include ${word.replaceAll('$H', top)}\n`);
    const lines = await readSshConfig(folder.home);
    const about = { host: 'robot', user: null, port: null, localUser: username, homeDir: homedir };
    const { user, port, hostName } = settingsOf(lines, about);
    const theirs = asOpenSsh(join(top, 'config'));
    expect({ user, port: String(port), hostName }).toEqual({
      user: theirs.user,
      port: theirs.port,
      hostName: theirs.hostname,
    });
  });

  // Of the values with tokens, -G expands that of IdentityAgent only.
  it.each(['%%', '%d', '%h', '%i', '%k', '%L', '%l', '%n', '%p', '%r', '%u', '%C', `\${HOME}`, `\${PATH}`])(
    'expands %s',
    (token) => {
      using folder = temporaryHome();
      const config = `HostName h.example\nPort 2222\nUser tech\nHostKeyAlias alias\nIdentityAgent /a/${token}\n`;
      folder.write('config', config);
      const about = { host: 'robot', user: null, port: null, localUser: username, homeDir: homedir };
      const { identityAgent } = settingsOf(parseSshConfig(config, 'config'), { ...about, environment: process.env });
      expect(identityAgent).toBe(asOpenSsh(join(folder.home, '.ssh', 'config')).identityagent);
    },
  );
});
