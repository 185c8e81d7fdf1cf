import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createChassisClient } from '../../src/lib/chassis/index.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import type { Dialer, HostKeyQuestion, SecretQuestion, SshOptions, SshPerson } from '../../src/lib/net/index.ts';
import { openSsh } from '../../src/lib/net/ssh/index.ts';
import { startSim } from '../../src/lib/sim/index.ts';
import { parseSite } from '../../src/lib/site/load.ts';
import { probeChassis } from '../../src/lib/toolkit/chassis/probe.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { HANG_MS } from '../waiting.ts';
import { hasProgram } from './peer.ts';
import { makeKey, type Sshd, startSshd, waitFor } from './sshd.ts';

const isThere = hasProgram('sshd') && hasProgram('ssh-keygen');

/** Answers as configured, and records the prompts. */
function person(answers: { trust?: boolean; secrets?: (string | null)[] } = {}) {
  const secrets = [...(answers.secrets ?? [])];
  const questions: SecretQuestion[] = [];
  const hosts: HostKeyQuestion[] = [];
  const messages: string[] = [];
  const who: SshPerson = {
    async askSecret(question) {
      questions.push(question);
      return secrets.shift() ?? null;
    },
    async trustHostKey(question) {
      hosts.push(question);
      return answers.trust === true;
    },
  };
  return { who, questions: questions, hosts, messages: messages, notify: (line: string) => messages.push(line) };
}

const optionsFor = (sshd: Sshd, more: Partial<SshOptions> = {}): SshOptions => ({
  homeDir: sshd.home,
  localUser: sshd.user,
  agentSocket: null,
  person: null,
  systemKnownHostsFile: '/dev/null',
  // A login takes as long as this machine needs for the processes of sshd.
  timeoutMs: HANG_MS,
  ...more,
});

const targetOf = (sshd: Sshd) => `${sshd.user}@127.0.0.1:${sshd.port}`;
const config = (sshd: Sshd, ...lines: string[]) =>
  writeFileSync(join(sshd.home, '.ssh', 'config'), `${lines.join('\n')}\n`, { mode: 0o600 });

async function errorOf(work: Promise<unknown>): Promise<GwError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GwError);
  return error as GwError;
}

/** An HTTP server that counts its connections. */
async function webServer() {
  let connections = 0;
  const server = createServer((request, response) => response.end(`you asked for ${request.url}`));
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe.skipIf(!isThere)('a real OpenSSH server', { concurrent: true }, () => {
  it('accepts a key file, forwards connections, and reports why one failed there', async () => {
    await using sshd = await startSshd();
    await using web = await webServer();
    sshd.trust();
    await using ssh = await openSsh(targetOf(sshd), optionsFor(sshd));
    expect(ssh.where).toBe(targetOf(sshd));
    expect(ssh.dialer.way).toBe(`via ${targetOf(sshd)}`);

    const stream = await ssh.dialer.dial(web.endpoint, { timeoutMs: HANG_MS });
    stream.write('GET /there HTTP/1.0\r\n\r\n');
    expect(await text(stream)).toContain('you asked for /there');

    const refused = ssh.dialer.dial({ host: '127.0.0.1', port: 1 }, { timeoutMs: HANG_MS });
    expect(await errorOf(refused)).toMatchObject({
      code: 'CHASSIS_NOT_CONNECTED',
      failure: 'refused',
      tried: { address: '127.0.0.1', port: 1, via: targetOf(sshd) },
    });
    // A name that a resolver rejects without a query.
    const unknown = ssh.dialer.dial({ host: 'no..name', port: 1 }, { timeoutMs: HANG_MS });
    expect(await errorOf(unknown)).toMatchObject({ failure: 'unknown-name' });
    const aborted = ssh.dialer.dial(web.endpoint, {
      timeoutMs: HANG_MS,
      signal: AbortSignal.abort(new Error('enough')),
    });
    await expect(aborted).rejects.toThrow('enough');
    expect(ssh.lost.aborted).toBe(false);
  });

  it('runs programs with their arguments unchanged, and reports how they ended', async () => {
    await using sshd = await startSshd();
    sshd.trust();
    await using ssh = await openSsh(targetOf(sshd), optionsFor(sshd));
    const words = [
      'a b',
      "it's",
      '$HOME',
      '`id`',
      '\\',
      '\\\\n',
      '"',
      '',
      '*',
      '; exit 3',
      'ä\n|',
      '!x',
      '-n',
      '~',
      "'\\''",
    ];
    const far = await ssh.exec(['printf', '<%s>', ...words]);
    expect(await text(far.stdout)).toBe(words.map((word) => `<${word}>`).join(''));
    far.stderr.resume();
    expect(await far.ended).toEqual({ code: 0, signal: null });

    const failing = await ssh.exec(['sh', '-c', 'cat; echo trouble >&2; exit 7']);
    failing.stdin.end('said to it');
    expect(await Promise.all([text(failing.stdout), text(failing.stderr)])).toEqual(['said to it', 'trouble\n']);
    expect(await failing.ended).toEqual({ code: 7, signal: null });

    const stop = new AbortController();
    const sleeping = await ssh.exec(['sh', '-c', 'echo up; exec sleep 60'], { signal: stop.signal });
    await once(sleeping.stdout, 'data');
    stop.abort();
    sleeping.stdout.resume();
    sleeping.stderr.resume();
    // OpenSSH passes signals on for every user except root.
    expect(await sleeping.ended).toEqual({ code: null, signal: userInfo().uid === 0 ? null : 'SIGTERM' });
  });

  it('is trusted after confirmation only, with the fingerprint of ssh-keygen, and remembered', async () => {
    await using sshd = await startSshd();
    const file = join(sshd.home, '.ssh', 'known_hosts');
    const fingerprint = execFileSync('ssh-keygen', ['-lf', join(sshd.dir, 'host_ed25519.pub')], { encoding: 'utf8' });

    const unanswered = await errorOf(openSsh(targetOf(sshd), optionsFor(sshd)));
    expect(unanswered.code).toBe('SSH_HOST_KEY_UNKNOWN');
    expect(unanswered.message).toContain(fingerprint.split(' ')[1]);
    const refusing = person({ trust: false });
    const refused = openSsh(targetOf(sshd), optionsFor(sshd, { person: refusing.who }));
    expect((await errorOf(refused)).code).toBe('SSH_HOST_KEY_UNKNOWN');
    expect(existsSync(file)).toBe(false);

    const trusting = person({ trust: true });
    await (await openSsh(targetOf(sshd), optionsFor(sshd, { person: trusting.who })))[Symbol.asyncDispose]();
    const host = `[127.0.0.1]:${sshd.port}`;
    expect(trusting.hosts).toEqual([{ host, keyType: 'ssh-ed25519', fingerprint: fingerprint.split(' ')[1] }]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(execFileSync('ssh-keygen', ['-F', host, '-f', file], { encoding: 'utf8' })).toContain('found');

    // Known now: no question is asked.
    await (await openSsh(targetOf(sshd), optionsFor(sshd)))[Symbol.asyncDispose]();
    // Hashed by ssh-keygen: still known.
    execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' });
    expect(readFileSync(file, 'utf8')).not.toContain('127.0.0.1');
    await (await openSsh(targetOf(sshd), optionsFor(sshd)))[Symbol.asyncDispose]();
  });

  it('is stored with a hashed name when HashKnownHosts is set, after a last line without a line end', async () => {
    await using sshd = await startSshd();
    const file = join(sshd.home, '.ssh', 'known_hosts');
    config(sshd, 'HashKnownHosts yes');
    writeFileSync(file, '# a remark without its end', { mode: 0o600 });
    const { who } = person({ trust: true });
    await (await openSsh(targetOf(sshd), optionsFor(sshd, { person: who })))[Symbol.asyncDispose]();
    expect(readFileSync(file, 'utf8')).toMatch(/^# a remark without its end\n\|1\|\S+ ssh-ed25519 \S+\n$/);
    await (await openSsh(targetOf(sshd), optionsFor(sshd)))[Symbol.asyncDispose]();
    const found = execFileSync('ssh-keygen', ['-F', `[127.0.0.1]:${sshd.port}`, '-f', file], { encoding: 'utf8' });
    expect(found).toContain('found');
  });

  it('is rejected with a changed or revoked key, also when a person would trust it', async () => {
    await using sshd = await startSshd({ hostKeyTypes: ['ed25519', 'rsa'] });
    const file = join(sshd.home, '.ssh', 'known_hosts');
    const trusting = person({ trust: true });
    const other = join(sshd.dir, 'other');
    makeKey(other);
    const line = `[127.0.0.1]:${sshd.port} ${readFileSync(`${other}.pub`, 'utf8')}`;
    writeFileSync(file, line);
    const changed = await errorOf(openSsh(targetOf(sshd), optionsFor(sshd, { person: trusting.who })));
    expect(changed.code).toBe('SSH_HOST_KEY_CHANGED');
    expect(changed.message).toContain(`${file}:1`);

    writeFileSync(file, `@revoked * ${sshd.knownHostLine().split(' ').slice(1).join(' ')}${sshd.knownHostLine()}`);
    const revoked = await errorOf(openSsh(targetOf(sshd), optionsFor(sshd, { person: trusting.who })));
    expect(revoked.code).toBe('SSH_HOST_KEY_REVOKED');
    expect(trusting.hosts).toEqual([]);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3);
  });

  it('is compared by the known key type, and a CA line does not count as a key', async () => {
    await using sshd = await startSshd({ hostKeyTypes: ['ed25519', 'rsa'] });
    const file = join(sshd.home, '.ssh', 'known_hosts');
    writeFileSync(file, `[127.0.0.1]:${sshd.port} ${readFileSync(join(sshd.dir, 'host_rsa.pub'), 'utf8')}`);
    await (await openSsh(targetOf(sshd), optionsFor(sshd)))[Symbol.asyncDispose]();

    writeFileSync(file, `@cert-authority * ${readFileSync(join(sshd.dir, 'host_rsa.pub'), 'utf8')}broken line\n`);
    const questions = person({ trust: false });
    const options = optionsFor(sshd, { person: questions.who, notify: questions.notify });
    expect((await errorOf(openSsh(targetOf(sshd), options))).code).toBe('SSH_HOST_KEY_UNKNOWN');
    expect(questions.messages.join('\n')).toMatch(/known_hosts:1 names a @cert-authority/);
    expect(questions.messages.join('\n')).toMatch(/known_hosts:2: invalid known_hosts line/);
  });

  it('requests the passphrase of a key file only when the server accepts that key', async () => {
    await using sshd = await startSshd();
    sshd.trust();
    const key = join(sshd.home, '.ssh', 'id_ed25519');
    rmSync(key);
    rmSync(`${key}.pub`);
    makeKey(key, 'ed25519', 'open sesame');
    // The encrypted file contains its public key in plain text too.
    sshd.authorize(`${key}.pub`);
    rmSync(`${key}.pub`);
    const answersWell = person({ secrets: ['wrong', 'open sesame'] });
    await (await openSsh(targetOf(sshd), optionsFor(sshd, { person: answersWell.who })))[Symbol.asyncDispose]();
    expect(answersWell.questions.map(({ text, echo }) => [text, echo])).toEqual([
      ['Passphrase for the key id_ed25519: ', false],
      ['Passphrase for the key id_ed25519: ', false],
    ]);
    const forgot = person({ secrets: ['a', 'b', 'c', 'd'] });
    const wrong = await errorOf(openSsh(targetOf(sshd), optionsFor(sshd, { person: forgot.who })));
    expect(wrong.code).toBe('SSH_KEY_UNUSABLE');
    expect(wrong.message).toContain('3 attempts');
    expect(JSON.stringify(wrong)).not.toMatch(/"a"|"b"|sesame/);
    const unanswered = await errorOf(openSsh(targetOf(sshd), optionsFor(sshd)));
    expect(unanswered.code).toBe('SSH_KEY_UNUSABLE');

    writeFileSync(join(sshd.dir, 'authorized_keys'), '');
    const unasked = person({ secrets: ['open sesame'] });
    const refused = await errorOf(openSsh(targetOf(sshd), optionsFor(sshd, { person: unasked.who })));
    expect(refused.code).toBe('SSH_AUTH_REFUSED');
    expect(unasked.questions.filter(({ text }) => text.includes('Passphrase'))).toEqual([]);
  });

  it('is sent two keys when it requires two', async () => {
    await using sshd = await startSshd({ config: ['AuthenticationMethods publickey,publickey'] });
    sshd.trust();
    const second = join(sshd.home, '.ssh', 'second');
    makeKey(second, 'ecdsa');
    sshd.authorize(`${second}.pub`);
    const one = await errorOf(openSsh(targetOf(sshd), optionsFor(sshd)));
    expect(one.code).toBe('SSH_AUTH_REFUSED');
    expect(one.message).toContain('partial success with a key');
    config(sshd, 'IdentityFile ~/.ssh/id_ed25519', 'IdentityFile ~/.ssh/second');
    await (await openSsh(targetOf(sshd), optionsFor(sshd)))[Symbol.asyncDispose]();
  });

  it.each(['rsa', 'ecdsa', 'ed25519'] as const)('accepts a key of type %s', async (type) => {
    await using sshd = await startSshd();
    sshd.trust();
    const key = join(sshd.home, '.ssh', 'mine');
    makeKey(key, type, 'locked');
    sshd.authorize(`${key}.pub`);
    config(sshd, 'IdentityFile ~/.ssh/mine');
    const { who, questions } = person({ secrets: ['locked'] });
    await (await openSsh(targetOf(sshd), optionsFor(sshd, { person: who })))[Symbol.asyncDispose]();
    expect(questions).toHaveLength(1);
  });

  it('reports which key is unusable, and why', async () => {
    await using sshd = await startSshd();
    sshd.trust();
    execFileSync('chmod', ['644', join(sshd.home, '.ssh', 'id_ed25519')]);
    const open = await errorOf(openSsh(targetOf(sshd), optionsFor(sshd)));
    expect(open.code).toBe('SSH_KEY_UNUSABLE');
    expect(open.message).toContain('chmod 600');
    config(sshd, 'IdentityFile ~/.ssh/not-there', 'IdentityFile ~/.ssh/config');
    const missing = await errorOf(openSsh(targetOf(sshd), optionsFor(sshd)));
    expect(missing.code).toBe('SSH_KEY_UNUSABLE');
    expect(missing.message).toMatch(/Key file \S+not-there does not exist/);
    config(sshd);
    rmSync(join(sshd.home, '.ssh', 'id_ed25519'));
    rmSync(join(sshd.home, '.ssh', 'id_ed25519.pub'));
    const none = await errorOf(openSsh(targetOf(sshd), optionsFor(sshd)));
    expect(none.code).toBe('SSH_AUTH_REFUSED');
    expect(none.message).toContain('no key was offered');
  });

  it.skipIf(!hasProgram('ssh-agent'))(
    'accepts keys of an agent, and is offered only those of IdentitiesOnly',
    async () => {
      await using sshd = await startSshd();
      sshd.trust();
      const socket = join(sshd.dir, 'agent');
      const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
      const ended = once(agent, 'close');
      try {
        await waitFor(
          () => existsSync(socket),
          () => 'no agent',
        );
        const env = { PATH: process.env.PATH ?? '', SSH_AUTH_SOCK: socket };
        const key = join(sshd.home, '.ssh', 'id_ed25519');
        for (const name of ['other1', 'other2']) {
          makeKey(join(sshd.dir, name), 'ecdsa');
          execFileSync('ssh-add', ['-q', join(sshd.dir, name)], { env });
        }
        execFileSync('ssh-add', ['-q', key], { env, stdio: 'ignore' });
        rmSync(key);
        const options = optionsFor(sshd, { agentSocket: socket });
        // The remaining public key selects the right one, so it is offered first.
        await (await openSsh(targetOf(sshd), options))[Symbol.asyncDispose]();
        await sshd.logged('Accepted publickey');
        expect(sshd.log()).not.toContain('Failed publickey');
        config(sshd, 'IdentitiesOnly yes', `IdentityFile ${join(sshd.dir, 'other1')}`);
        const refused = await errorOf(openSsh(targetOf(sshd), options));
        expect(refused.code).toBe('SSH_AUTH_REFUSED');
        expect(refused.message).toContain('offered: test ecdsa (agent);');
        config(sshd, 'IdentityAgent none');
        expect((await errorOf(openSsh(targetOf(sshd), options))).message).toContain('no key was offered');
      } finally {
        agent.kill();
        await ended;
      }
      const gone = await errorOf(openSsh(targetOf(sshd), optionsFor(sshd, { agentSocket: socket })));
      expect(gone.message).toContain('no key was offered');
    },
  );

  it('is reached by the configuration: alias, patterns, port, user, key, and jump hosts', async () => {
    await using bastion = await startSshd();
    await using inner = await startSshd();
    await using last = await startSshd();
    const key = join(bastion.home, '.ssh', 'id_ed25519.pub');
    inner.authorize(key);
    last.authorize(key);
    const known = [bastion, inner, last].map((sshd) => sshd.knownHostLine()).join('');
    writeFileSync(join(bastion.home, '.ssh', 'known_hosts'), known);
    config(
      bastion,
      'Host robot-*, !robot-9',
      '  ProxyJump nobody@127.0.0.1:1',
      'Host bastion inner robot-7',
      '  HostName 127.0.0.1',
      `  User ${bastion.user}`,
      `Host bastion`,
      `  Port ${bastion.port}`,
      'Host inner',
      `  Port ${inner.port}`,
      'Host robot-7',
      `  Port ${last.port}`,
      '  ProxyJump bastion,inner',
    );
    await using ssh = await openSsh('robot-7', { ...optionsFor(bastion), localUser: 'somebody-else' });
    expect(ssh.where).toBe(`${bastion.user}@127.0.0.1:${last.port}`);
    for (const sshd of [bastion, inner, last]) await sshd.logged('Accepted publickey');
    const far = await ssh.exec(['echo', 'there']);
    expect(await text(far.stdout)).toBe('there\n');

    // The connection to a jump host is a connection to the last host, too.
    const lost = once(ssh.lost, 'abort');
    await inner.stop();
    await lost;
    expect(ssh.lost.reason).toMatchObject({ code: 'SSH_LOST' });
    await expect(ssh.dialer.dial({ host: '127.0.0.1', port: 1 }, { timeoutMs: 500 })).rejects.toBe(ssh.lost.reason);
    await expect(ssh.exec(['true'])).rejects.toBe(ssh.lost.reason);
  });

  it('is reported with the jump host that does not answer or does not forward', async () => {
    await using sshd = await startSshd({ config: ['AllowTcpForwarding no'] });
    sshd.trust();
    const jump = `127.0.0.1:${sshd.port}`;
    config(sshd, 'Host far', '  HostName 127.0.0.1', `  ProxyJump ${jump}`, 'Host nowhere', '  ProxyJump 127.0.0.1:1');
    const closed = await errorOf(openSsh('far', optionsFor(sshd)));
    expect(closed.code).toBe('SSH_CHANNEL_REFUSED');
    expect(closed.tried).toMatchObject({ address: '127.0.0.1', port: 22, via: targetOf(sshd) });
    const nowhere = await errorOf(openSsh('nowhere', optionsFor(sshd)));
    expect(nowhere.code).toBe('SSH_NOT_CONNECTED');
    expect(nowhere.tried).toMatchObject({ address: '127.0.0.1', port: 1 });
  });

  it.each([
    ['AllowTcpForwarding no', ''],
    ['PermitOpen 127.0.0.1:9', ''],
    ['', 'restrict'],
    ['', 'permitopen="127.0.0.1:9"'],
  ])('distinguishes a channel refused by %s%s from a chassis that refuses', async (line, option) => {
    await using sshd = await startSshd(line === '' ? {} : { config: [line] });
    await using web = await webServer();
    sshd.trust();
    writeFileSync(join(sshd.dir, 'authorized_keys'), '');
    sshd.authorize(join(sshd.home, '.ssh', 'id_ed25519.pub'), option);
    await using ssh = await openSsh(targetOf(sshd), optionsFor(sshd));
    const error = await errorOf(ssh.dialer.dial(web.endpoint, { timeoutMs: HANG_MS }));
    expect(error.code).toBe('SSH_CHANNEL_REFUSED');
    expect(error.tried).toMatchObject({ ...{ address: '127.0.0.1', port: web.endpoint.port }, via: targetOf(sshd) });
    // The result of the chassis client is the same.
    const client = createChassisClient({ endpoint: web.endpoint, dialer: ssh.dialer, clock: systemClock });
    expect((await errorOf(client.identity())).code).toBe('SSH_CHANNEL_REFUSED');
    await client[Symbol.asyncDispose]();
  });

  it('keeps connections to the chassis alive, and carries its topics', async () => {
    await using sshd = await startSshd();
    await using sim = await startSim({});
    sshd.trust();
    await using ssh = await openSsh(targetOf(sshd), optionsFor(sshd));
    let dials = 0;
    const dialer: Dialer = {
      way: ssh.dialer.way,
      dial(endpoint, options) {
        dials += 1;
        return ssh.dialer.dial(endpoint, options);
      },
    };
    const { host, port, serial } = sim.chassis;
    // On a clock that stands: how long an answer takes is said of this machine.
    const clock = createFakeClock();
    const client = createChassisClient({ endpoint: { host, port }, dialer, expectedSerial: serial, clock });
    const ask = async () => expect((await client.identity()).serial).toBe(serial);
    await ask();
    await ask();
    const warm = dials;
    for (let round = 0; round < 20; round += 1) await ask();
    const { maps } = await client.listMaps();
    expect((await client.mapPng(String(maps[0]?.id))).byteLength).toBeGreaterThan(100);
    await client[Symbol.asyncDispose]();
    expect(dials).toBe(warm);

    const site = parseSite(
      `name: T\nchassis: { host: ${host}, port: ${port}, serial: ${serial} }\n`,
      join(sshd.dir, 'site.yaml'),
    );
    const toolkit = { site, dialer: ssh.dialer, clock: systemClock, ssh };
    const context = { signal: new AbortController().signal, onProgress: () => {} };
    const probe = await probeChassis(toolkit, { seconds: 2 }, context);
    expect(probe.topics.find(({ topic }) => topic === '/tracked_pose')?.messages).toBeGreaterThan(5);
  });

  it('reports a lost connection at once, and fails pending requests instead of ending them', async () => {
    await using sshd = await startSshd();
    sshd.trust();
    const server = createTcpServer((socket) => {
      socket.write('half of an answer');
      socket.on('error', () => {});
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await using ssh = await openSsh(targetOf(sshd), optionsFor(sshd));
    const stream = await ssh.dialer.dial({ host: '127.0.0.1', port }, { timeoutMs: HANG_MS });
    const far = await ssh.exec(['sleep', '60']);
    let received = '';
    stream.on('data', (chunk) => (received += chunk));
    await waitFor(
      () => received !== '',
      () => 'nothing came',
    );
    const failed = once(stream, 'error');
    await sshd.stop();
    expect((await failed)[0]).toBe(ssh.lost.reason);
    expect(ssh.lost.reason).toMatchObject({ code: 'SSH_LOST', exitCode: 3 });
    await expect(far.ended).rejects.toBe(ssh.lost.reason);
    server.close();
  });

  it('detects a connection without any data', async () => {
    await using sshd = await startSshd();
    let isCut = false;
    const sockets: Socket[] = [];
    const proxy = createTcpServer((near) => {
      const far = connect(sshd.port, '127.0.0.1');
      sockets.push(near, far);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from.on('data', (chunk) => {
          if (!isCut) to.write(chunk);
        });
        from.on('error', () => {});
      }
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    sshd.trust(port);
    await using ssh = await openSsh(`${sshd.user}@127.0.0.1:${port}`, optionsFor(sshd));
    expect(ssh.lost.aborted).toBe(false);
    const lost = once(ssh.lost, 'abort');
    isCut = true;
    await lost;
    expect(ssh.lost.reason.message).toContain('no data received for 6 s');
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });

  it('shows the banner of the server before the login, sanitized', async () => {
    await using sshd = await startSshd();
    const banner = join(sshd.dir, 'banner');
    writeFileSync(banner, 'Robot 7\u001b[2J of the lobby\nKeep out\n');
    writeFileSync(join(sshd.dir, 'more'), '');
    await sshd.stop();
    await using spoken = await startSshd({ config: [`Banner ${banner}`] });
    spoken.trust();
    const messages: string[] = [];
    const options = optionsFor(spoken, { notify: (line) => messages.push(line) });
    await (await openSsh(targetOf(spoken), options))[Symbol.asyncDispose]();
    expect(messages).toHaveLength(2);
    expect(messages[0]).toMatch(/^Banner of .*: Robot 7.*of the lobby$/);
    expect(messages.join('')).not.toContain('\u001b');
  });
});
