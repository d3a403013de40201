/** The site of the pages in `docs`; `npm run docs:build` writes it to `docs/.vitepress/dist`, and fails where a link is dead. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig, type MarkdownOptions } from 'vitepress';
import { tokenize } from './search';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const { description, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  description: string;
  repository: { url: string };
};
const source = repository.url.replace(/^git\+/, '').replace(/\.git$/, '');

/** Pages of the site that are files of the repository's root; their links are relative to that. */
const FROM_ROOT: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
};

/** Where a relative link of a page leads on the site: to a page, to a picture, or to the repository. */
function target(page: string, link: string): string {
  const [path = '', anchor] = link.split('#');
  const after = anchor === undefined ? '' : `#${anchor}`;
  if (path === '') return link;
  const isFromRoot = Object.values(FROM_ROOT).includes(page);
  const file = posix.join(isFromRoot ? '.' : posix.join('docs', posix.dirname(page)), path);
  if (!file.startsWith('docs/api/') && !existsSync(join(root, file)))
    throw new Error(`docs/${page}: there is no ${file} for the link ${link}`);
  if (file.startsWith('docs/public/')) return file.slice('docs/public'.length);
  if (file.startsWith('docs/')) return `/${file.slice('docs/'.length)}${after}`;
  if (file in FROM_ROOT) return `/${FROM_ROOT[file]}${after}`;
  return `${source}/blob/main/${file}${after}`;
}

const links: MarkdownOptions['config'] = (md) => {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const name = token.type === 'link_open' ? 'href' : token.type === 'image' ? 'src' : undefined;
      const link = name === undefined ? null : token.attrGet(name);
      if (name === undefined || link === null || /^(\w+:|\/|#)/.test(link)) continue;
      token.attrSet(name, target(env.relativePath, decodeURI(link)));
    }
  });
};

const page = (text: string, link: string): DefaultTheme.SidebarItem => ({ text, link });
const part = (text: string, ...items: DefaultTheme.SidebarItem[]) => ({ text, items });

const english = [
  part(
    'Guides',
    page('Deduplicate files', '/guide/files'),
    page('Rows and streams in Node.js', '/guide/streams'),
    page('Each text as it arrives', '/guide/live'),
    page('Indexes on disk, pairs, matches', '/guide/index-folder'),
    page('Method and threshold', '/guide/choose'),
  ),
  part(
    'Tasks',
    page('Recipes', '/recipes'),
    page('MongoDB', '/mongodb'),
    page('Chinese words', '/words'),
    page('A report: look and label', '/report'),
    page('A server', '/serve'),
    page('One window for several services', '/shared-window'),
    page('Many machines', '/scale'),
  ),
  part(
    'Coming from Python',
    page('Five ways', '/python/'),
    page('Keywords and MongoDB', '/python/tfidf-mongodb'),
    page('Longest sentences', '/python/longest-sentences'),
    page('A MinHash script', '/python/minhash-script'),
    page('Three ways side by side', '/python/three-ways'),
    page('A window of two days', '/python/window'),
  ),
  part(
    'Reference',
    page('API', '/api/'),
    page('API: /mongodb', '/api/connect/mongodb'),
    page('API: /level', '/api/connect/level'),
    page('API: /log', '/api/connect/log'),
    page('Command line', '/cli'),
    page('Errors', '/errors'),
    page('Platforms', '/platforms'),
    page('Reading files', '/reading'),
    page('Durable indexes', '/durable'),
    page('Sentences', '/sentences'),
    page('File formats', '/formats'),
    page('Specification', '/specification'),
  ),
  part(
    'Evidence',
    page('How it works', '/how-it-works'),
    page('Quality', '/quality'),
    page('Performance', '/performance'),
    page('Architecture', '/architecture'),
  ),
  part(
    'Project',
    page('Changelog', '/changelog'),
    page('Contributing', '/contributing'),
    page('Releasing', '/releasing'),
  ),
];

const chinese = [
  part(
    '使用指南',
    page('对文件去重', '/zh/guide/files'),
    page('Node.js 里的记录和数据流', '/zh/guide/streams'),
    page('逐条判断', '/zh/guide/live'),
    page('磁盘上的索引、配对与比对', '/zh/guide/index-folder'),
    page('选择方法和阈值', '/zh/guide/choose'),
    page('MongoDB', '/zh/mongodb'),
    page('示例', '/zh/recipes'),
    page('报告：看结果，做标注', '/zh/report'),
    page('命令行', '/zh/cli'),
    page('几个服务共用一个窗口', '/zh/shared-window'),
  ),
  part(
    '从 Python 转来',
    page('五种做法', '/zh/python/'),
    page('关键词与 MongoDB', '/zh/python/tfidf-mongodb'),
    page('最长的句子', '/zh/python/longest-sentences'),
    page('MinHash 脚本', '/zh/python/minhash-script'),
    page('三种方法并排', '/zh/python/three-ways'),
    page('两天的窗口', '/zh/python/window'),
  ),
  part(
    '英文页面',
    page('词和关键词', '/words'),
    page('服务器', '/serve'),
    page('多台机器', '/scale'),
    page('命令行', '/cli'),
    page('错误', '/errors'),
    page('平台', '/platforms'),
    page('读取文件', '/reading'),
    page('持久索引', '/durable'),
    page('句子', '/sentences'),
    page('文件格式', '/formats'),
    page('质量', '/quality'),
    page('性能', '/performance'),
    page('规范', '/specification'),
  ),
];

/** What the theme says around Chinese pages. */
const interfaceInChinese: DefaultTheme.Config = {
  outline: { level: [2, 3], label: '本页内容' },
  docFooter: { prev: '上一页', next: '下一页' },
  darkModeSwitchLabel: '外观',
  lightModeSwitchTitle: '切换到浅色',
  darkModeSwitchTitle: '切换到深色',
  sidebarMenuLabel: '目录',
  returnToTopLabel: '回到顶部',
  langMenuLabel: '切换语言',
};
const searching = {
  button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
  modal: {
    displayDetails: '显示详细列表',
    resetButtonTitle: '清除',
    backButtonTitle: '关闭',
    noResultsText: '没有找到',
    footer: { selectText: '打开', navigateText: '切换', closeText: '关闭' },
  },
};

export default defineConfig({
  title: 'simhash-native',
  description,
  srcExclude: ['public/**'],
  markdown: { config: links },
  themeConfig: {
    search: { provider: 'local', options: { miniSearch: { options: { tokenize } }, locales: { zh: { translations: searching } } } },
    socialLinks: [{ icon: 'github', link: source }],
    outline: [2, 3],
    // Not every page has a twin of the same path: the switch leads to the first page of the other language.
    i18nRouting: false,
  },
  locales: {
    root: { label: 'English', lang: 'en', themeConfig: { sidebar: english } },
    zh: {
      label: '中文',
      lang: 'zh-CN',
      link: '/zh/',
      description: '在文件、数据流和数据库里查找近似重复的文本，中文优先，结果在原文上核实。',
      themeConfig: { ...interfaceInChinese, sidebar: { '/zh/': chinese, '/': english } },
    },
  },
});
