import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { parseSshConfig, settingsOf } from '../../../src/lib/net/ssh/config/config.ts';
import { matchesGlob, matchesPattern } from '../../../src/lib/net/ssh/config/pattern.ts';
import { readSshConfig } from '../../../src/lib/net/ssh/config/read-config.ts';
import { routeOf } from '../../../src/lib/net/ssh/connection.ts';
import { runs } from '../../properties.ts';
import { errorOf, temporaryHome } from './ssh-server.ts';

const here = { homeDir: '/people/t', localUser: 'local' };
const resolved = (text: string, host: string, more: { user?: string; port?: number } = {}) =>
  settingsOf(parseSshConfig(text, 'config'), { host, user: more.user ?? null, port: more.port ?? null, ...here });
const thrown = (work: () => unknown): GwError => {
  try {
    throw new Error(`expected an error, not ${work()}`);
  } catch (error) {
    if (error instanceof GwError) return error;
    throw error;
  }
};

describe('the configuration of SSH', () => {
  it('sets nothing when it is empty', () => {
    expect(resolved('', 'robot')).toMatchObject({
      hostName: 'robot',
      user: 'local',
      port: 22,
      identityFiles: null,
      jumps: [],
      knownHostsFiles: null,
      notes: [],
    });
  });

  it('runs no program of a Match block', () => {
    using folder = temporaryHome();
    const mark = join(folder.home, 'was-run');
    const { user, notes } = resolved(`Match exec "touch ${mark}"\n User other\n`, 'a');
    expect([user, notes.length, existsSync(mark)]).toEqual(['local', 1, false]);
  });

  it('yields the first matching value, and the value of the command line before that', () => {
    const all = '# before any host: for all of them\r\nPort 2200\r\n';
    const first = 'Host robot-? !robot-9\r\n  User=first\r\n  HostName = %h.example.com\r\n';
    const text = `${all}${first}Host *\r\n\tUser second\r\n\tPort 2300`;
    expect(resolved(text, 'robot-7')).toMatchObject({ user: 'first', port: 2200, hostName: 'robot-7.example.com' });
    expect(resolved(text, 'Robot-7')).toMatchObject({ user: 'first' });
    expect(resolved(text, 'robot-9')).toMatchObject({ user: 'second', hostName: 'robot-9' });
    expect(resolved(text, 'robot-77')).toMatchObject({ user: 'second' });
    expect(resolved(text, 'robot-7', { user: 'mine', port: 5 })).toMatchObject({ user: 'mine', port: 5 });
  });

  it('accumulates key files, and supports ~, quotes, comments and tokens', () => {
    const text =
      'Host a\n IdentityFile ~/.ssh/one # mine\n IdentityFile "/keys/two of %r"\nIdentityFile %d/%h\nIdentitiesOnly yes\n';
    expect(resolved(text, 'a')).toMatchObject({
      identityFiles: ['/people/t/.ssh/one', '/keys/two of local', '/people/t/a'],
      identitiesOnly: true,
    });
    expect(resolved('IdentityFile none', 'a').identityFiles).toEqual([]);
    // As `ssh -G` of OpenSSH parses them.
    expect(resolved('IdentityFile /x/a#b', 'a').identityFiles).toEqual(['/x/a#b']);
    expect(resolved("IdentityFile '/x/single quoted'", 'a').identityFiles).toEqual(['/x/single quoted']);
    expect(resolved('IdentityAgent none', 'a').identityAgent).toBeNull();
    expect(resolved('IdentityAgent SSH_AUTH_SOCK', 'a').identityAgent).toBeUndefined();
    expect(resolved('IdentityAgent "~/agent 1"', 'a').identityAgent).toBe('/people/t/agent 1');
    const expected = { knownHostsFiles: ['/people/t/k1', '/k2'], hostKeyAlias: 'gw', hashesNames: true };
    expect(resolved('UserKnownHostsFile ~/k1 /k2\nHostKeyAlias gw\nHashKnownHosts yes', 'a')).toMatchObject(expected);
  });

  it('reports ignored settings of this host only', () => {
    const text =
      'Host a\n StrictHostKeyChecking no\n CertificateFile x\nMatch user root\n Port 1\nMatch all\n Port 3\n';
    const { notes, port, isStrict } = resolved(text, 'a');
    expect(notes.join(' ')).toMatch(/StrictHostKeyChecking no.*/);
    expect(notes).toHaveLength(3);
    expect(port).toBe(3);
    expect(isStrict).toBe(false);
    expect(resolved('StrictHostKeyChecking yes', 'a')).toMatchObject({ isStrict: true, notes: [] });
    expect(resolved('Host b\n StrictHostKeyChecking no', 'a').notes).toEqual([]);
  });

  it('rejects unsupported settings with their line', () => {
    const hosts = 'Host|HostName -oProxyCommand=x|HostName %x|HostKeyAlias a,*|ProxyCommand nc %h %p|ProxyJump a,-b';
    const others = `Port 0|Port 70000|Port ssh|Port|User "a b"|IdentityAgent $A-B|IdentityFile \${NOT_SET}|IdentityFile \${HOME|IdentityFile "open|"Port" 22`;
    for (const line of `${hosts}|${others}`.split('|')) {
      const error = thrown(() => resolved(`Host a\n${line}`, 'a'));
      expect([line, error.code]).toEqual([line, 'SSH_CONFIG_INVALID']);
      expect(error.message).toContain('config:2');
    }
    expect(resolved('ProxyJump b\nProxyCommand nc %h %p', 'a').jumps).toEqual(['b']);
    expect(resolved('ProxyCommand none', 'a').jumps).toEqual([]);
    expect(resolved('ProxyJump none\nProxyJump b', 'a').jumps).toEqual([]);
    expect(resolved('Host b\nPort nonsense', 'a').port).toBe(22);
  });

  it('resolves jump hosts in order; the first one may have jump hosts of its own', () => {
    const text = 'Host robot\n ProxyJump m1,u2@m2:22022\nHost m1\n ProxyJump m0\nHost m2\n ProxyJump nowhere';
    const route = routeOf(parseSshConfig(text, 'config'), { host: 'robot', user: 'tech', port: null }, here);
    const words = route.map(({ user, hostName, port }) => `${user}@${hostName}:${port}`);
    expect(words.join(' ')).toBe('local@m0:22 local@m1:22 u2@m2:22022 tech@robot:22');
  });

  it.each(['Host *\n ProxyJump bastion', 'Host a\n ProxyJump b\nHost b\n ProxyJump a', `ProxyJump ${'x,'.repeat(9)}x`])(
    'rejects loops of jump hosts',
    (text) => {
      const error = thrown(() => routeOf(parseSshConfig(text, 'config'), { host: 'a', user: null, port: null }, here));
      expect(error.code).toBe('SSH_CONFIG_INVALID');
      expect(error.message).toMatch(/loop|more than 8/);
    },
  );

  it('includes other files, with patterns, and only for matching hosts', async () => {
    using folder = temporaryHome();
    mkdirSync(join(folder.home, '.ssh', 'config.d'));
    folder.write('config.d/20', 'User late\n');
    folder.write('config.d/10', 'Host a\n User early\n');
    folder.write('config', 'Host a b\n Include config.d/* missing\n Port 7\nHost *\n User all\n');
    const lines = await readSshConfig(folder.home);
    const at = (host: string) => settingsOf(lines, { host, user: null, port: null, ...here });
    expect(at('a')).toMatchObject({ user: 'early', port: 7 });
    expect(at('b')).toMatchObject({ user: 'late', port: 7 });
    expect(at('c')).toMatchObject({ user: 'all', port: 22 });
  });

  it('includes by wildcards in every part of a path, by sets, and by variables; folders that match are none', async () => {
    using folder = temporaryHome();
    for (const name of ['d1', 'd2', 'd3', '.hidden']) mkdirSync(join(folder.home, '.ssh', name));
    folder.write('d1/config', 'User one\n');
    folder.write('d2/config', 'Port 2222\n');
    folder.write('d3/config', 'HostName three\n');
    folder.write('.hidden/config', 'HostName hidden\n');
    const included = async (word: string) => {
      folder.write('config', `Include ${word}\n`);
      const lines = await readSshConfig(folder.home);
      const { user, port, hostName } = settingsOf(lines, { host: 'a', user: null, port: null, ...here });
      return [user, port, hostName].join(' ');
    };
    expect(await included('*/config')).toBe('one 2222 three');
    expect(await included('d[1-2]/conf?g')).toBe('one 2222 a');
    expect(await included('d[!12]/config')).toBe('local 22 three');
    expect(await included('d[31]/con*')).toBe('one 22 three');
    expect(await included('d*')).toBe('local 22 a');
    expect(await included('d1')).toBe('local 22 a');
    expect(await included(`\${HOME}/.ssh/d1/config`)).toBe('one 22 a');
    expect(await included('"~/.ssh/d2/config"')).toBe('local 2222 a');
  });

  it('expands the tokens and variables of file names', () => {
    const environment = { HOME: '/people/t', KEYS: '/keys', MY_AGENT: '/run/agent' };
    const at = (line: string) =>
      settingsOf(parseSshConfig(`HostName h.example\nHostKeyAlias alias\n${line}`, 'config'), {
        ...{ host: 'robot', user: 'tech', port: 2222, ...here, environment },
      });
    expect(at(`IdentityFile \${KEYS}/%k-%h-%n-%r-%p-%u-%%`).identityFiles).toEqual([
      '/keys/alias-h.example-robot-tech-2222-local-%',
    ]);
    expect(resolved('IdentityFile /x/%k', 'robot').identityFiles).toEqual(['/x/robot']);
    const local = hostname();
    expect(at('IdentityFile /x/%l/%L/%i/%j').identityFiles).toEqual([
      `/x/${local}/${local.split('.')[0]}/${process.getuid?.()}/`,
    ]);
    expect(at(`UserKnownHostsFile \${HOME}/k1 ~/k2`).knownHostsFiles).toEqual(['/people/t/k1', '/people/t/k2']);
    expect(at('RevokedHostKeys ~/revoked').revokedHostKeys).toBe('/people/t/revoked');
    expect(at('RevokedHostKeys none').revokedHostKeys).toBeNull();
    // Of two files one would be left out, and its keys trusted.
    expect(() => at('RevokedHostKeys ~/revoked /etc/ssh/revoked')).toThrow('more than one file');
    expect(at('IdentityAgent $SSH_AUTH_SOCK').identityAgent).toBeUndefined();
    expect(at('IdentityAgent $MY_AGENT').identityAgent).toBe('/run/agent');
    expect(at('IdentityAgent $OTHER').identityAgent).toBeNull();
    expect(at(`IdentityAgent \${KEYS}/agent`).identityAgent).toBe('/keys/agent');
  });

  it('matches sets of a glob as the C library does, whatever the pattern', { tags: 'property' }, () => {
    const set = fc.constantFrom('[a-c]', '[!a]', '[]]', '[a', '*', '?', 'a', 'b', '\\*', ']', '-');
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ']', '[', '-', '*'), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(set, { maxLength: 6 }), text, (parts, name) => {
        expect(matchesGlob(parts.join(''), name)).toBeTypeOf('boolean');
        // Every character escaped matches itself only.
        const escaped = [...name].map((one) => `\\${one}`).join('');
        expect(matchesGlob(escaped, name)).toBe(true);
        expect(matchesGlob(escaped, `${name}x`)).toBe(false);
      }),
      { numRuns: runs(300) },
    );
    expect(matchesGlob('[]]', ']')).toBe(true);
    expect(matchesGlob('[a', '[a')).toBe(true);
    expect(matchesGlob('A*', 'ab')).toBe(false);
    expect(matchesGlob('*', '.a')).toBe(false);
  });

  it('rejects recursive includes and unreadable files; a missing file is empty', async () => {
    using folder = temporaryHome();
    expect(await readSshConfig(folder.home)).toEqual([]);
    folder.write('config', 'Include config\n');
    expect((await errorOf(readSshConfig(folder.home))).code).toBe('SSH_CONFIG_INVALID');
    folder.write('config', 'Port 1\n');
    chmodSync(join(folder.home, '.ssh', 'config'), 0o664);
    expect((await errorOf(readSshConfig(folder.home))).message).toContain('writable by others');
    chmodSync(join(folder.home, '.ssh', 'config'), 0o600);
    writeFileSync(join(folder.home, '.ssh', 'config'), Buffer.alloc(2 * 1024 * 1024, 'x'));
    expect((await errorOf(readSshConfig(folder.home))).message).toContain('larger than');
  });
});

it('a pattern of hosts matches by its definition, in bounded time', { tags: 'property' }, () => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 });
  fc.assert(
    fc.property(few, text, (pattern, given) => {
      const meaning = new RegExp(`^${pattern.replace(/\*+/g, '.*').replaceAll('?', '.')}$`);
      expect(matchesPattern(pattern, given)).toBe(meaning.test(given));
    }),
  );
  expect(matchesPattern('a*'.repeat(40), `${'a'.repeat(4_000)}b`)).toBe(true);
  expect(matchesPattern(`${'a*'.repeat(40)}c`, 'a'.repeat(4_000))).toBe(false);
});
