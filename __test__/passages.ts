/** Texts of sentences: the same numbers give the same texts, on every machine. */
const WORDS =
  '今天早晨全市各区的图书馆新馆陆续开放读者可以凭证入内阅览并预约座位工作人员介绍说下月起还将增加夜间服务时间和儿童活动专区';

/** A Chinese sentence that no other number gives, of 20 to 30 characters. */
export function sentence(number: number): string {
  const start = (number * 7) % (WORDS.length - 20);
  return `${WORDS.slice(start, start + 14)}第${number}号公告已经发布。`;
}

/** A text of these sentences. */
export const passage = (...numbers: number[]) => numbers.map(sentence).join('');

/** `count` texts of three sentences each, of which many share one, and short and empty ones among them. */
export function passages(count: number): string[] {
  return Array.from({ length: count }, (_, row) => {
    if (row % 17 === 3) return '';
    if (row % 13 === 5) return `短讯${row % 39}`;
    return passage((row * 31) % 997, (row * row * 7) % 1999, 5000 + row);
  });
}
