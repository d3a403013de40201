/** A registry of npm on this machine, with some packages: what the client asks of it is what a test can see. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Published {
  readonly manifest: { readonly version: string };
  /** The file of its tarball. */
  readonly tarball: string;
}

export interface Registry {
  readonly url: string;
  /** Names of the packages whose tarballs were asked for, in that order. */
  readonly fetched: string[];
  close(): Promise<void>;
}

export async function registry(packages: readonly Published[]): Promise<Registry> {
  const fetched: string[] = [];
  const byName = new Map(
    packages.map((one) => [(one.manifest as unknown as { name: string }).name, one]),
  );
  const server = createServer((request, response) => {
    const [path = '', tarball] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split('/-/');
    const one = byName.get(path);
    if (one === undefined) {
      response.writeHead(404).end('{}');
      return;
    }
    const bytes = readFileSync(one.tarball);
    if (tarball !== undefined) {
      fetched.push(path);
      response.end(bytes);
      return;
    }
    const { version } = one.manifest;
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const dist = { tarball: `${url}/${path}/-/${version}.tgz`, integrity };
    const versions = { [version]: { ...one.manifest, dist } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name: path, 'dist-tags': { latest: version }, versions }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    fetched,
    close: () => new Promise((done) => server.close(() => done())),
  };
}
