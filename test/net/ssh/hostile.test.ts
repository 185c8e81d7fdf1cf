import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { AcceptConnection, AuthContext, ServerChannel } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { createChassisClient } from '../../../src/lib/chassis/index.ts';
import type { SecretQuestion, SshPerson } from '../../../src/lib/net/index.ts';
import { openSsh } from '../../../src/lib/net/ssh/index.ts';
import { errorOf, newKeyPair, optionsIn, startRawServer, startSshServer, temporaryHome } from './ssh-server.ts';

const welcome = (context: AuthContext) => context.accept();

/** A user that gives these answers. */
function typist(answers: readonly (string | null)[]): { person: SshPerson; questions: SecretQuestion[] } {
  const left = [...answers];
  const questions: SecretQuestion[] = [];
  return {
    questions: questions,
    person: {
      async askSecret(question) {
        questions.push(question);
        return left.length > 0 ? (left.shift() ?? null) : null;
      },
      trustHostKey: async () => false,
    },
  };
}

describe('a peer that is not a proper SSH server', () => {
  it.each([
    ['sends nothing', () => {}],
    ['closes the connection', (socket) => socket.end()],
    ['speaks HTTP', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['sends endless lines before its version', (socket) => void flood(socket, `${'x'.repeat(200)}\r\n`)],
    ['sends a line without end', (socket) => void flood(socket, 'x'.repeat(4_096))],
    ['sends random bytes after its version', (socket) => socket.write(`SSH-2.0-x\r\n${'\u00ff\u0001'.repeat(4_000)}`)],
    ['stops after its version', (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n')],
    ['speaks SSH 1.5', (socket) => socket.write('SSH-1.5-old\r\n')],
  ] as [string, (socket: Socket) => void][])('is SSH_BAD_ANSWER when it %s', async (_, onSocket) => {
    using folder = temporaryHome();
    await using server = await startRawServer(onSocket);
    const error = await errorOf(openSsh(`127.0.0.1:${server.port}`, optionsIn(folder.home, { timeoutMs: 600 })));
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
    using folder = temporaryHome();
    await using server = await startSshServer(welcome, () => {}, {
      algorithms: { kex: ['diffie-hellman-group1-sha1'] },
    });
    folder.write('known_hosts', server.known);
    const error = await errorOf(openSsh(`127.0.0.1:${server.port}`, optionsIn(folder.home)));
    expect(error.code).toBe('SSH_NO_AGREEMENT');
  });

  it('is INTERRUPTED by the signal', async () => {
    using folder = temporaryHome();
    await using server = await startRawServer(() => {});
    const ending = new AbortController();
    const opening = openSsh(`127.0.0.1:${server.port}`, optionsIn(folder.home, { signal: ending.signal }));
    setTimeout(() => ending.abort(), 100);
    expect((await errorOf(opening)).code).toBe('INTERRUPTED');
  });

  it('is INTERRUPTED also while TCP is connecting', async () => {
    using folder = temporaryHome();
    await using server = await startRawServer(() => {});
    const options = optionsIn(folder.home, { signal: AbortSignal.abort() });
    const error = await errorOf(openSsh(`127.0.0.1:${server.port}`, options));
    expect(error).toMatchObject({ code: 'INTERRUPTED', tried: { address: '127.0.0.1', port: server.port } });
  });
});

describe('a login', () => {
  it('ends when the server floods it with banners, and shows only the first lines', async () => {
    using folder = temporaryHome();
    await using server = await startSshServer((_, connection) => {
      // The library sends a banner once; sending another one needs its internals.
      const { _protocol: inside } = connection as unknown as {
        _protocol: { _banner: string; serviceAccept(name: string): void };
      };
      for (let round = 0; round < 200; round += 1) {
        inside._banner = `\u001b[2Jround ${round}\n`.repeat(3);
        inside.serviceAccept('ssh-userauth');
      }
    });
    folder.write('known_hosts', server.known);
    const notices: string[] = [];
    const options = optionsIn(folder.home, { notify: (line) => notices.push(line) });
    const error = await errorOf(openSsh(`127.0.0.1:${server.port}`, options));
    expect(error.code).toBe('SSH_BAD_ANSWER');
    expect(error.message).toContain('SSH banner too long');
    expect(notices).toHaveLength(20);
    expect(notices.join('')).not.toMatch(/\p{Cc}/u);
  });

  it('requests the password at most three times, and never shows it', async () => {
    using folder = temporaryHome();
    await using server = await startSshServer((context) => {
      if (context.method === 'password' && context.password === 'right') context.accept();
      else context.reject(['password']);
    });
    folder.write('known_hosts', server.known);
    const target = `technician@127.0.0.1:${server.port}`;
    const answersWell = typist(['wrong', 'right']);
    await using ssh = await openSsh(target, optionsIn(folder.home, { person: answersWell.person }));
    expect(ssh.where).toBe(target);
    expect(answersWell.questions).toEqual([
      { text: `Password for ${target}: `, echo: false },
      { text: `Password for ${target}: `, echo: false },
    ]);
    const guesses = typist(['secret-1', 'secret-2', 'secret-3', 'secret-4', 'secret-5']);
    const refused = await errorOf(openSsh(target, optionsIn(folder.home, { person: guesses.person })));
    expect(refused.code).toBe('SSH_AUTH_REFUSED');
    expect(guesses.questions).toHaveLength(3);
    expect(`${JSON.stringify(refused)} ${refused.stack}`).not.toContain('secret-');
    expect((await errorOf(openSsh(target, optionsIn(folder.home)))).message).toContain('the server accepts: password');
  });

  it('answers the prompts of the server, sanitized, and stops with the user', async () => {
    using folder = temporaryHome();
    await using server = await startSshServer((context) => {
      if (context.method !== 'keyboard-interactive') return context.reject(['keyboard-interactive', 'password']);
      context.prompt(
        [
          { prompt: 'Password:\u001b[31m ', echo: false },
          { prompt: 'Badge: ', echo: true },
        ],
        'Door',
        'two things',
        (answers) => (answers.join() === 'right,7' ? context.accept() : context.reject(['keyboard-interactive'])),
      );
    });
    folder.write('known_hosts', server.known);
    const target = `technician@127.0.0.1:${server.port}`;
    const answersWell = typist(['right', '7']);
    await (await openSsh(target, optionsIn(folder.home, { person: answersWell.person })))[Symbol.asyncDispose]();
    expect(answersWell.questions.map(({ echo }) => echo)).toEqual([false, true]);
    expect(answersWell.questions[0]?.text).toBe(`${target} (two things): Password:\uFFFD[31m `);
    const leaves = typist([null]);
    expect((await errorOf(openSsh(target, optionsIn(folder.home, { person: leaves.person })))).code).toBe(
      'SSH_AUTH_REFUSED',
    );
    expect(leaves.questions).toHaveLength(1);
  });

  it('continues with the password after a partial success', async () => {
    using folder = temporaryHome();
    folder.write('id_ecdsa', newKeyPair().private);
    let hasKey = false;
    await using server = await startSshServer((context) => {
      if (context.method === 'publickey' && !hasKey) {
        if (context.signature === undefined) return context.accept();
        hasKey = true;
        return context.reject(['password'], true);
      }
      if (hasKey && context.method === 'password' && context.password === 'right') return context.accept();
      context.reject(hasKey ? ['password'] : ['publickey']);
    });
    folder.write('known_hosts', server.known);
    const { person, questions } = typist(['right']);
    const options = optionsIn(folder.home, { person });
    await (await openSsh(`127.0.0.1:${server.port}`, options))[Symbol.asyncDispose]();
    expect(questions).toHaveLength(1);
  });

  it('bounds the prompts of a server', async () => {
    using folder = temporaryHome();
    await using server = await startSshServer((context) => {
      if (context.method !== 'keyboard-interactive') return context.reject(['keyboard-interactive']);
      const again = () => context.prompt([{ prompt: 'More?', echo: false }], again);
      again();
    });
    folder.write('known_hosts', server.known);
    const agrees = typist(Array.from({ length: 100 }, () => 'yes'));
    const options = optionsIn(folder.home, { person: agrees.person, timeoutMs: 400 });
    expect((await errorOf(openSsh(`127.0.0.1:${server.port}`, options))).code).toBe('SSH_BAD_ANSWER');
    expect(agrees.questions).toHaveLength(20);
  });

  it('does not count the typing time of the user', async () => {
    using folder = temporaryHome();
    await using server = await startSshServer((context) => {
      if (context.method === 'password') context.accept();
      else context.reject(['password']);
    });
    folder.write('known_hosts', server.known);
    const slow: SshPerson = {
      askSecret: async () => {
        await new Promise((resolve) => setTimeout(resolve, 900));
        return 'typed at last';
      },
      trustHostKey: async () => false,
    };
    const options = optionsIn(folder.home, { person: slow, timeoutMs: 500 });
    await (await openSsh(`127.0.0.1:${server.port}`, options))[Symbol.asyncDispose]();
  });

  it('fails when the server goes silent or closes in the middle', async () => {
    using folder = temporaryHome();
    await using silent = await startSshServer(() => {});
    await using rude = await startSshServer(() => rude.cut());
    folder.write('known_hosts', silent.known + rude.known);
    const hangs = openSsh(`127.0.0.1:${silent.port}`, optionsIn(folder.home, { timeoutMs: 500 }));
    expect((await errorOf(hangs)).code).toBe('SSH_BAD_ANSWER');
    const cut = await errorOf(openSsh(`127.0.0.1:${rude.port}`, optionsIn(folder.home)));
    expect(['SSH_BAD_ANSWER', 'SSH_AUTH_REFUSED']).toContain(cut.code);
  });
});

describe('channels', () => {
  it('are INTERRUPTED when the signal was aborted before', async () => {
    using folder = temporaryHome();
    await using server = await startSshServer(welcome);
    folder.write('known_hosts', server.known);
    await using ssh = await openSsh(`127.0.0.1:${server.port}`, optionsIn(folder.home));
    const running = ssh.exec(['true'], { signal: AbortSignal.abort() });
    expect(await errorOf(running)).toMatchObject({ code: 'INTERRUPTED', tried: { action: 'run true' } });
  });

  const endpoint = { host: '127.0.0.1', port: 9 };

  it('that the server never confirms time out, and a late one is closed', async () => {
    using folder = temporaryHome();
    let late: AcceptConnection<ServerChannel> | undefined;
    await using server = await startSshServer(welcome, (connection) => {
      connection.on('tcpip', (accept) => {
        late = accept;
      });
    });
    folder.write('known_hosts', server.known);
    await using ssh = await openSsh(`127.0.0.1:${server.port}`, optionsIn(folder.home));
    const error = await errorOf(ssh.dialer.dial(endpoint, { timeoutMs: 200 }));
    expect(error).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED', failure: 'no-answer' });
    const channel = late?.();
    channel?.resume();
    if (channel) await once(channel, 'close');
    expect(channel).toBeDefined();
    expect(ssh.lost.aborted).toBe(false);
  });

  it('that the server refuses are SSH_CHANNEL_REFUSED, also for programs', async () => {
    using folder = temporaryHome();
    await using server = await startSshServer(welcome, (connection) => {
      connection.on('tcpip', (_accept, reject) => reject());
      connection.on('session', (_accept, reject) => reject());
    });
    folder.write('known_hosts', server.known);
    await using ssh = await openSsh(`127.0.0.1:${server.port}`, optionsIn(folder.home));
    await errorOf(ssh.dialer.dial(endpoint, { timeoutMs: 2_000 }));
    expect((await errorOf(ssh.exec(['true']))).code).toBe('SSH_CHANNEL_REFUSED');
  });

  it('carry large data both ways with backpressure', async () => {
    using folder = temporaryHome();
    await using server = await startSshServer(welcome, (connection) => {
      connection.on('tcpip', (accept) => {
        const stream = accept();
        stream.pipe(stream);
      });
    });
    folder.write('known_hosts', server.known);
    await using ssh = await openSsh(`127.0.0.1:${server.port}`, optionsIn(folder.home));
    const stream = await ssh.dialer.dial(endpoint, { timeoutMs: 2_000 });
    const sent = Buffer.alloc(6 * 1024 * 1024, 'echo');
    stream.end(sent);
    await new Promise((resolve) => setTimeout(resolve, 200));
    let received = 0;
    for await (const chunk of stream) received += (chunk as Buffer).length;
    expect(received).toBe(sent.length);
  });

  it('are reused for many requests of the chassis client', async () => {
    using folder = temporaryHome();
    let opened = 0;
    await using server = await startSshServer(welcome, (connection) => {
      connection.on('tcpip', (accept) => {
        opened += 1;
        const stream = accept();
        stream.on('data', () => {
          const body = '{"device":{"sn":"SN-1"}}';
          stream.write(
            `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
          );
        });
      });
    });
    folder.write('known_hosts', server.known);
    await using ssh = await openSsh(`127.0.0.1:${server.port}`, optionsIn(folder.home));
    await using client = createChassisClient({ endpoint, dialer: ssh.dialer });
    for (let round = 0; round < 20; round += 1) expect((await client.identity()).serial).toBe('SN-1');
    expect(opened).toBeLessThanOrEqual(2);
  });

  it('fail with the loss of the connection', async () => {
    using folder = temporaryHome();
    await using server = await startSshServer(welcome, (connection) => {
      connection.on('tcpip', (accept) => {
        accept().write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"device":');
        setTimeout(() => server.cut(), 50);
      });
    });
    folder.write('known_hosts', server.known);
    await using ssh = await openSsh(`127.0.0.1:${server.port}`, optionsIn(folder.home));
    const stream = await ssh.dialer.dial(endpoint, { timeoutMs: 2_000 });
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
