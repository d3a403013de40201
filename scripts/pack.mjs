// node scripts/pack.mjs [--from DIR] [--workers DIR] [--to DIR] [--all]: makes the tarballs that are published, in DIR/tarballs
// (npm/tarballs): one of each platform whose native part is in --from (ts), and one without any native part, which names those of all
// platforms, of its own version, as optionalDependencies. They are written here and not in package.json, so that `npm install` in a clone
// asks for nothing that is not published yet, and nothing in a clone is changed. Also one of each worker that is in --workers
// (npm/workers), which nothing names: those who use Spark or a scheduler install it. --all, which a release needs, refuses to leave a
// platform or a worker out.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { NapiCli, parseTriple } from '@napi-rs/cli';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values } = parseArgs({
  options: {
    from: { type: 'string', default: join(root, 'ts') },
    workers: { type: 'string', default: join(root, 'npm', 'workers') },
    to: { type: 'string', default: join(root, 'npm') },
    all: { type: 'boolean', default: false },
  },
});
const [from, to, builds] = [values.from, values.to, values.workers].map((path) => resolve(path));
const manifest = read(join(root, 'package.json'));
const { binaryName, packageName, targets } = manifest.napi;
const platforms = targets.map((target) => parseTriple(target).platformArchABI);
const native = (platform) => `${binaryName}.${platform}.node`;
/** Workers need no library of the system, so there is one for each kind of processor. */
const WORKER = 'simhash-native-worker';
const workers = targets
  .filter((target) => target.endsWith('-linux-gnu'))
  .map((target) => ({
    target,
    arch: parseTriple(target).arch,
    file: join(builds, `${WORKER}-${target}`),
  }));

function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
function write(path, content) {
  writeFileSync(path, `${JSON.stringify(content, undefined, 2)}\n`);
}

/** Notices of Rust's standard library, which is linked: a file of the compiler, here with each text once, a third of its size. */
function noticesOfRust() {
  const sysroot = execFileSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' }).trim();
  const file = join(sysroot, 'share', 'doc', 'rust', 'COPYRIGHT-library.html');
  if (!existsSync(file)) {
    if (values.all) throw new Error(`the notices of Rust's standard library are not in ${file}`);
    return undefined;
  }
  const seen = new Set();
  return readFileSync(file, 'utf8').replace(/<pre>([\s\S]*?)<\/pre>/g, (all, text) => {
    const words = text.replace(/\s+/g, ' ');
    if (seen.has(words)) return '<pre>(a text that is above)</pre>';
    seen.add(words);
    return all;
  });
}

/** The licences of all that is linked, in a folder; their names. */
function stageLicences(folder) {
  const texts = ['LICENSE', 'THIRD-PARTY.md'];
  for (const text of texts) copyFileSync(join(root, text), join(folder, text));
  const rust = noticesOfRust();
  if (rust !== undefined) {
    texts.push('COPYRIGHT-library.html');
    writeFileSync(join(folder, 'COPYRIGHT-library.html'), rust);
  }
  return texts;
}

/** What the package of each platform has beside what the tool of napi writes. */
function stagePlatform(platform, folder) {
  const made = read(join(folder, 'package.json'));
  const { homepage, bugs, author, publishConfig } = manifest;
  const texts = stageLicences(folder);
  copyFileSync(join(from, native(platform)), join(folder, native(platform)));
  const description = `The native part of ${packageName} for ${platform}`;
  write(join(folder, 'package.json'), {
    ...made,
    ...{ description, author, homepage, bugs, type: 'commonjs' },
    ...{ files: [...made.files, ...texts], publishConfig },
  });
}

/** The package of a worker: a program, on the PATH of `npx` and of scripts where it is installed. */
function stageWorker({ arch, file }, folder) {
  mkdirSync(folder, { recursive: true });
  copyFileSync(file, join(folder, WORKER));
  // What a workflow hands on has lost it.
  chmodSync(join(folder, WORKER), 0o755);
  const name = `${packageName}-worker-linux-${arch}`;
  const { version, license, repository, homepage, bugs, author, publishConfig } = manifest;
  const description = `The worker of ${packageName} for Spark and schedulers on Linux, ${arch}`;
  writeFileSync(
    join(folder, 'README.md'),
    `# ${name}\n\n${description}: [More than one machine](${homepage}).\n\nA program that is linked statically, also with the GNU C library (LGPL 2.1 or later). It can be built again, with any other one, from the sources of [${packageName}](${homepage}).\n`,
  );
  write(join(folder, 'package.json'), {
    ...{ name, version, description, license, repository, homepage, bugs, author },
    ...{ type: 'commonjs', os: ['linux'], cpu: [arch], bin: { [WORKER]: WORKER } },
    ...{ files: [WORKER, ...stageLicences(folder)], publishConfig },
  });
}

/**
 * The package that people install, with a manifest for those who install it. The code of others is linked into the native parts, and its
 * notices are beside them.
 */
function stageMain(folder) {
  mkdirSync(folder, { recursive: true });
  const filter = (path) => !path.endsWith('.node');
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true, filter });
  for (const text of ['README.md', 'LICENSE']) {
    copyFileSync(join(root, text), join(folder, text));
  }
  const { private: _, scripts: __, devDependencies: ___, ...published } = manifest;
  const optionalDependencies = Object.fromEntries(
    platforms.map((platform) => [`${packageName}-${platform}`, manifest.version]),
  );
  write(join(folder, 'package.json'), { ...published, optionalDependencies });
}

const present = platforms.filter((platform) => existsSync(join(from, native(platform))));
const absent = platforms.filter((platform) => !present.includes(platform));
const workersHere = workers.filter(({ file }) => existsSync(file));
if (values.all && workersHere.length < workers.length) {
  console.error(`${builds} must have ${workers.map(({ file }) => basename(file)).join(' and ')}`);
  process.exit(1);
}
if (present.length === 0 || (values.all && absent.length > 0)) {
  console.error(
    `${from} has no native part for ${absent.join(', ')}: npm run build makes that of this machine`,
  );
  process.exit(1);
}

const [staged, tarballs] = [join(to, 'staged'), join(to, 'tarballs')];
for (const folder of [staged, tarballs]) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
// It writes nowhere but beside a manifest.
write(join(staged, 'package.json'), manifest);
await new NapiCli().createNpmDirs({ cwd: staged, npmDir: '.' });
for (const platform of present) stagePlatform(platform, join(staged, platform));
for (const worker of workersHere) stageWorker(worker, join(staged, `worker-${worker.arch}`));
stageMain(join(staged, 'main'));

// Those of the platforms first, as they are published: the main one names them.
const programs = workersHere.map(({ arch }) => `worker-${arch}`);
const packed = [...present, ...programs, 'main'].map((name) => {
  const args = ['pack', '--json', '--ignore-scripts', `--pack-destination=${tarballs}`];
  // npm on Windows is a script, which only a shell runs.
  const shell = process.platform === 'win32';
  const printed = execFileSync('npm', args, { cwd: join(staged, name), encoding: 'utf8', shell });
  return JSON.parse(printed)[0];
});
write(join(tarballs, 'packed.json'), packed);
for (const { filename, size } of packed) console.log(`${(size / 1e6).toFixed(1)} MB ${filename}`);
if (absent.length > 0) console.log(`not made, for want of a native part: ${absent.join(', ')}`);
