import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { AcceptConnection, AuthContext, ServerChannel } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { createChassisClient } from '../../../src/lib/chassis/index.ts';
import type { SecretQuestion, SshPerson } from '../../../src/lib/net/index.ts';
import { openSsh } from '../../../src/lib/net/ssh/index.ts';
import { createFakeClock, passTime } from '../../lifecycle/fake-clock.ts';
import { isFull } from '../../properties.ts';
import { errorOf, newKeyPair, optionsIn, sshWorld, startRawServer, temporaryHome } from './ssh-server.ts';

const welcome = (context: AuthContext) => context.accept();

/** A user that gives these answers. */
function typist(answers: readonly (string | null)[]): { person: SshPerson; questions: SecretQuestion[] } {
  const left = [...answers];
  const questions: SecretQuestion[] = [];
  const askSecret = async (question: SecretQuestion) => {
    questions.push(question);
    return left.shift() ?? null;
  };
  return { questions, person: { askSecret, trustHostKey: async () => false } };
}

describe('a peer that is not a proper SSH server', () => {
  it.each([
    ['closes the connection', (socket) => socket.end()],
    ['speaks HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['sends a line without end', (socket) => void flood(socket, 'x'.repeat(4_096))],
    ['sends random bytes after its version', (socket) => socket.write(`SSH-2.0-x\r\n${'\u00ff\u0001'.repeat(4_000)}`)],
    ['speaks SSH 1.5', (socket) => socket.write('SSH-1.5-old\r\n')],
    ['sends nothing in time', () => {}, 600],
    ['sends endless lines before its version', (socket) => void flood(socket, `${'x'.repeat(200)}\r\n`), 600],
    ['stops after its version', (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'), 600],
  ] as [string, (socket: Socket) => void, number?][])('is SSH_BAD_ANSWER when it %s', async (_, onSocket, ms) => {
    using folder = temporaryHome();
    const clock = createFakeClock();
    const received = Promise.withResolvers<unknown>();
    await using server = await startRawServer((socket) => {
      socket.once('data', received.resolve);
      onSocket(socket);
    });
    const opening = openSsh(`127.0.0.1:${server.port}`, optionsIn(folder.home, { timeoutMs: 600, clock }));
    const failing = errorOf(opening);
    await Promise.race([received.promise, failing]);
    const error = ms === undefined ? await failing : await errorOf(passTime(clock, ms, opening));
    expect(error).toMatchObject({ code: 'SSH_BAD_ANSWER', tried: { address: '127.0.0.1', port: server.port } });
    expect(error.message).not.toMatch(/\p{Cc}/u);
  });

  it('is not connected when nothing listens', async () => {
    using folder = temporaryHome();
    const error = await errorOf(openSsh('technician@127.0.0.1:1', optionsIn(folder.home)));
    expect(error).toMatchObject({ code: 'SSH_NOT_CONNECTED', tried: { address: '127.0.0.1', port: 1 } });
    expect(error.message).toContain('nothing listens');
  });

  it('is SSH_NO_AGREEMENT when it offers insecure algorithms only', async () => {
    await using world = await sshWorld(welcome, () => {}, { algorithms: { kex: ['diffie-hellman-group1-sha1'] } });
    expect((await errorOf(world.open())).code).toBe('SSH_NO_AGREEMENT');
  });

  it('is INTERRUPTED by the signal, also while TCP is connecting', async () => {
    using folder = temporaryHome();
    const ending = new AbortController();
    await using server = await startRawServer((socket) => socket.once('data', () => ending.abort()));
    for (const signal of [ending.signal, AbortSignal.abort()]) {
      const error = await errorOf(openSsh(`127.0.0.1:${server.port}`, optionsIn(folder.home, { signal })));
      expect(error).toMatchObject({ code: 'INTERRUPTED', tried: { address: '127.0.0.1', port: server.port } });
    }
  });
});

describe('a login', () => {
  it('ends when the server floods it with banners, and shows only the first lines', async () => {
    await using world = await sshWorld((_, connection) => {
      // The library sends a banner once; sending another one needs its internals.
      const { _protocol: inside } = connection as unknown as {
        _protocol: { _banner: string; serviceAccept(name: string): void };
      };
      for (let round = 0; round < 200; round += 1) {
        inside._banner = `\u001b[2Jround ${round}\n`.repeat(3);
        inside.serviceAccept('ssh-userauth');
      }
    });
    const notices: string[] = [];
    const error = await errorOf(world.open({ notify: (line) => notices.push(line) }));
    expect(error.code).toBe('SSH_BAD_ANSWER');
    expect(error.message).toContain('SSH banner too long');
    expect(notices).toHaveLength(20);
    expect(notices.join('')).not.toMatch(/\p{Cc}/u);
  });

  it('requests the password at most three times, and never shows it', async () => {
    await using world = await sshWorld((context) => {
      if (context.method === 'password' && context.password === 'right') context.accept();
      else context.reject(['password']);
    });
    const { target } = world;
    const answersWell = typist(['wrong', 'right']);
    await using ssh = await world.open({ person: answersWell.person });
    expect(ssh.where).toBe(target);
    const question = { text: `Password for ${target}: `, echo: false };
    expect(answersWell.questions).toEqual([question, question]);
    const guesses = typist(['secret-1', 'secret-2', 'secret-3', 'secret-4', 'secret-5']);
    const refused = await errorOf(world.open({ person: guesses.person }));
    expect(refused.code).toBe('SSH_AUTH_REFUSED');
    expect(guesses.questions).toHaveLength(3);
    expect(`${JSON.stringify(refused)} ${refused.stack}`).not.toContain('secret-');
    expect((await errorOf(world.open())).message).toContain('the server accepts: password');
  });

  it('answers the prompts of the server, sanitized, and stops with the user', async () => {
    const prompts = [
      { prompt: 'Password:\u001b[31m ', echo: false },
      { prompt: 'Badge: ', echo: true },
    ];
    await using world = await sshWorld((context) => {
      if (context.method !== 'keyboard-interactive') return context.reject(['keyboard-interactive', 'password']);
      context.prompt(prompts, 'Door', 'two things', (answers) =>
        answers.join() === 'right,7' ? context.accept() : context.reject(['keyboard-interactive']),
      );
    });
    const answersWell = typist(['right', '7']);
    await using _ssh = await world.open({ person: answersWell.person });
    expect(answersWell.questions.map(({ echo }) => echo)).toEqual([false, true]);
    expect(answersWell.questions[0]?.text).toBe(`${world.target} (two things): Password:\uFFFD[31m `);
    const leaves = typist([null]);
    expect((await errorOf(world.open({ person: leaves.person }))).code).toBe('SSH_AUTH_REFUSED');
    expect(leaves.questions).toHaveLength(1);
  });

  it('continues with the password after a partial success', async () => {
    let hasKey = false;
    await using world = await sshWorld((context) => {
      if (context.method === 'publickey' && !hasKey) {
        if (context.signature === undefined) return context.accept();
        hasKey = true;
        return context.reject(['password'], true);
      }
      if (hasKey && context.method === 'password' && context.password === 'right') return context.accept();
      context.reject(hasKey ? ['password'] : ['publickey']);
    });
    world.folder.write('id_ecdsa', newKeyPair().private);
    const { person, questions } = typist(['right']);
    await using _ssh = await world.open({ person });
    expect(questions).toHaveLength(1);
  });

  it('bounds the prompts of a server', async () => {
    await using world = await sshWorld((context) => {
      if (context.method !== 'keyboard-interactive') return context.reject(['keyboard-interactive']);
      const again = () => context.prompt([{ prompt: 'More?', echo: false }], again);
      again();
    });
    const clock = createFakeClock();
    const { person, questions } = typist(Array.from({ length: 100 }, () => 'yes'));
    const opening = world.open({ person, timeoutMs: 400, clock });
    await expect.poll(() => questions.length).toBe(20);
    expect((await errorOf(passTime(clock, 400, opening))).code).toBe('SSH_BAD_ANSWER');
    expect(questions).toHaveLength(20);
  });

  it('does not count the typing time of the user', async () => {
    await using world = await sshWorld((context) =>
      context.method === 'password' ? context.accept() : context.reject(['password']),
    );
    const clock = createFakeClock();
    const askSecret = async () => {
      await clock.advance(900);
      return 'typed at last';
    };
    const person = { askSecret, trustHostKey: async () => false };
    await using _ssh = await world.open({ person, timeoutMs: 500, clock });
  });

  it('fails when the server goes silent or closes in the middle', async () => {
    const asked = Promise.withResolvers<void>();
    await using silent = await sshWorld(() => asked.resolve());
    await using rude = await sshWorld(() => rude.cut());
    const clock = createFakeClock();
    const hangs = silent.open({ timeoutMs: 500, clock });
    await asked.promise;
    expect((await errorOf(passTime(clock, 500, hangs))).code).toBe('SSH_BAD_ANSWER');
    expect(['SSH_BAD_ANSWER', 'SSH_AUTH_REFUSED']).toContain((await errorOf(rude.open())).code);
  });
});

describe('channels', () => {
  it('are INTERRUPTED when the signal was aborted before', async () => {
    await using world = await sshWorld(welcome);
    await using ssh = await world.open();
    const running = ssh.exec(['true'], { signal: AbortSignal.abort() });
    expect(await errorOf(running)).toMatchObject({ code: 'INTERRUPTED', tried: { action: 'run true' } });
  });

  const endpoint = { host: '127.0.0.1', port: 9 };

  it('that the server never confirms time out, and a late one is closed', async () => {
    const asked = Promise.withResolvers<AcceptConnection<ServerChannel>>();
    await using world = await sshWorld(welcome, (connection) => connection.on('tcpip', asked.resolve));
    const clock = createFakeClock();
    await using ssh = await world.open({ clock });
    const dialled = ssh.dialer.dial(endpoint, { timeoutMs: 200 });
    const accept = await asked.promise;
    const expected = { code: 'CHASSIS_NOT_CONNECTED', failure: 'no-answer' };
    expect(await errorOf(passTime(clock, 200, dialled))).toMatchObject(expected);
    const channel = accept();
    channel.resume();
    await once(channel, 'close');
    expect(ssh.lost.aborted).toBe(false);
  });

  it('that the server refuses are SSH_CHANNEL_REFUSED, also for programs', async () => {
    await using world = await sshWorld(welcome, (connection) => {
      connection.on('tcpip', (_accept, reject) => reject());
      connection.on('session', (_accept, reject) => reject());
    });
    await using ssh = await world.open();
    await errorOf(ssh.dialer.dial(endpoint, { timeoutMs: 2_000 }));
    expect((await errorOf(ssh.exec(['true']))).code).toBe('SSH_CHANNEL_REFUSED');
  });

  it('carry large data both ways with backpressure', { tags: 'property' }, async () => {
    await using world = await sshWorld(welcome, (connection) => {
      connection.on('tcpip', (accept) => {
        const stream = accept();
        stream.pipe(stream);
      });
    });
    await using ssh = await world.open();
    const stream = await ssh.dialer.dial(endpoint, { timeoutMs: 2_000 });
    // More than the window of a channel, in which the server may send without a reader.
    const sent = Buffer.alloc((isFull ? 6 : 2.5) * 1024 * 1024, 'echo');
    stream.end(sent);
    await expect.poll(() => stream.readableLength).toBeGreaterThanOrEqual(stream.readableHighWaterMark);
    let received = 0;
    for await (const chunk of stream) received += (chunk as Buffer).length;
    expect(received).toBe(sent.length);
  });

  it('are reused for many requests of the chassis client', async () => {
    let opened = 0;
    await using world = await sshWorld(welcome, (connection) => {
      connection.on('tcpip', (accept) => {
        opened += 1;
        const stream = accept();
        const body = '{"device":{"sn":"SN-1"}}';
        const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
        stream.on('data', () => stream.write(head + body));
      });
    });
    await using ssh = await world.open();
    await using client = createChassisClient({ endpoint, dialer: ssh.dialer });
    for (let round = 0; round < 8; round += 1) expect((await client.identity()).serial).toBe('SN-1');
    expect(opened).toBeLessThanOrEqual(2);
  });

  it('fail with the loss of the connection', async () => {
    await using world = await sshWorld(welcome, (connection) => {
      connection.on('tcpip', (accept) => {
        accept().write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"device":');
      });
    });
    await using ssh = await world.open();
    const stream = await ssh.dialer.dial(endpoint, { timeoutMs: 2_000 });
    await expect.poll(() => stream.readableLength).toBeGreaterThan(0);
    world.cut();
    expect(await errorOf(text(stream))).toBe(ssh.lost.reason);
    expect(ssh.lost.reason).toMatchObject({ code: 'SSH_LOST' });
  });
});

function flood(socket: Socket, words: string): void {
  const more = () => {
    let isWritable = !socket.destroyed;
    while (isWritable) isWritable = socket.write(words) && !socket.destroyed;
  };
  socket.on('drain', more);
  more();
}
