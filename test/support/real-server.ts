import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

const FOLDERS = ['/usr/sbin', '/usr/bin', '/usr/local/bin'];

/** Returns the program, if it is installed. */
export function installed(program: string): string | undefined {
  return FOLDERS.map((folder) => path.join(folder, program)).find((file) => fs.existsSync(file));
}

/** Makes a directory for a server, which may run as another user, and removes it when the test ends. */
export function serverDirectory(files: Readonly<Record<string, string>>): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-server-'));
  fs.chmodSync(directory, 0o777);
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(directory, name), text);
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Returns ports of this machine that are free. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listening));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Starts a program that listens on these ports; it is ended with the test. @throws with its output if it ends before */
export async function startServer(command: readonly string[], ports: readonly number[]): Promise<void> {
  const [program = '', ...argv] = command;
  let output = '';
  const home = serverDirectory({});
  const child = spawn(program, argv, {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += String(text)));
  onTestFinished(() => ended(child));
  while (!(await Promise.all(ports.map(isOpen))).every(Boolean)) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Returns the hash of a password for a file of users. */
export function hashedPassword(password: string): string {
  return execFileSync('openssl', ['passwd', '-apr1', password], { encoding: 'utf8' }).trim();
}

async function listening(): Promise<ReturnType<typeof createServer>> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await end;
  clearTimeout(kill);
}
