// What templates say: the texts of templates.mjs, by length.

/** A text with `[slot]` for each number and `[a/b/c]` for one of several words. */
const template = (kind, lang, text) => ({ kind, lang, text });

/** Fewer than 40 code points whatever is drawn. */
export const SHORT = [
  template('episode', 'zh', '第[n]集'),
  template('episode', 'zh', '[山海谣/长街旧事/归途] 第[n]集'),
  template('episode', 'zh', '《[木匠笔记/乡村厨房/星河客栈]》第[n]期 完整版'),
  template('episode', 'zh', 'EP[round] [国语/粤语/原声]'),
  template('id', 'zh', '订单号[id]'),
  template('id', 'zh', '取件码[id]，请到[南门/北门/东门]驿站取件'),
  template('id', 'zh', '您的验证码是[id]，请勿告诉他人'),
  template('id', 'zh', '您的订单[id]已[发货/签收/退款]，请注意查收'),
  template('price', 'zh', '价格[round]元'),
  template('price', 'zh', '[苹果/葡萄/橙子/蜜瓜]五斤装仅需[price]元'),
  template('price', 'zh', '[城南/城北/江边]两居室月租[round]元，押一付三'),
  template('price', 'zh', '您本月[话费/电费/水费]账单为[price]元，请按时缴清'),
  template('date', 'zh', '[year]年[month]月[day]日'),
  template('date', 'zh', '[停水/停电/停气]通知：[month]月[day]日全天检修'),
  template('date', 'zh', '关于[year]年[month]月[day]日[放假/调休/补课]的通知'),
  template('unit', 'zh', '[大米/面粉/黄豆][round]公斤装'),
  template('unit', 'zh', '移动电源[round]毫安，[黑色/白色]，带线'),
  template('unit', 'zh', '环湖徒步全程[n]公里，请自带[雨衣/午饭/热水]'),
  template('version', 'zh', '版本[version]发布，修复[闪退/卡顿/乱码]问题'),
  template('version', 'zh', '[路由器/打印机/摄像头]固件[version]下载'),
  template('score', 'zh', '[蓝队/江北队/码头队]主场[score][获胜/落败]'),
  template('time', 'zh', '[班车/校车/末班车][clock]发车'),
  template('time', 'zh', '请于今天[clock]到[礼堂/操场/三楼]集合'),
  template('percent', 'zh', '[出口/销量/客流]同比增长[decimal]%'),
  template('decimal', 'zh', '[海州/青禾/云浦]明晨最低气温[degrees]度'),
  template('decimal', 'zh', '水位较昨日上涨[decimal]米'),
  template('number', 'zh', '我市新增[停车位/充电桩/路灯][round]个'),
  template('number', 'zh', '还有[n]人排在您前面，请在[大厅/二楼]等候'),
  template('ordinal', 'zh', '第[numeral]章 [夜雨/渡口/雪晴]'),
  template('ordinal', 'zh', '第[numeral]届[茶文化节/村运会/灯会]开幕'),
  template('ordinal', 'zh', '外婆今年[numeral]岁了，还在[种菜/纳鞋/养蜂]'),
  template('episode', 'en', 'EP[round]'),
  template('episode', 'en', '[Harbour Street/The Salt Road] episode [n]'),
  template('episode', 'en', 'Chapter [n]: [The Mill/A Letter/Low Tide]'),
  template('id', 'en', 'Order [id]'),
  template('id', 'en', 'Your [login/bank/door] code is [id]'),
  template('id', 'en', 'Parcel [id] is with your neighbour'),
  template('id', 'en', 'Ticket #[id] has been [closed/opened]'),
  template('price', 'en', '$[round]'),
  template('price', 'en', 'Used [bike/piano/canoe], $[round], cash only'),
  template('price', 'en', '[Coffee/Soup/Cake] of the day $[price]'),
  template('price', 'en', 'You sent $[price] to [Maya/Omar/Ines]'),
  template('date', 'en', '[year]-[month2]-[day2]'),
  template('date', 'en', '[Book fair/Choir/Bazaar] moved to [June/July] [day]'),
  template('date', 'en', 'Annual [report/review] [year]'),
  template('unit', 'en', '[Rope/Hose/Cable], [round] metres'),
  template('unit', 'en', '[Bread/Rye/Oat] flour, [decimal] kg sack'),
  template('version', 'en', 'Release [version]'),
  template('version', 'en', 'Fixed in [version]: crash on [start/exit]'),
  template('score', 'en', '[Rovers/City/Millers] [win/lose] [score] at home'),
  template('time', 'en', 'Last [bus/ferry/train] at [clock]'),
  template('percent', 'en', '[Exports/Rents/Fares] up by [decimal]%'),
  template('decimal', 'en', 'Low of [degrees] degrees tonight'),
  template('decimal', 'en', 'River [rises/falls] by [decimal] m'),
  template('number', 'en', 'Room [n]'),
  template('number', 'en', '[Farm/Bakery/Hotel] hiring [round] workers'),
];

/** From 40 to under 80: only what has the same numbers is made of them. */
export const MIDDLE = [
  template(
    'id',
    'zh',
    '您的快件[id]已由[门卫/邻居/前台]代收，如有问题请联系派送员，感谢使用本公司的服务，期待再次为您派件',
  ),
  template(
    'date',
    'zh',
    '因设备检修，市[游泳馆/图书馆/科技馆]将于[month]月[day]日闭馆一天，持有年卡的会员有效期自动顺延，敬请谅解',
  ),
  template(
    'score',
    'zh',
    '校[篮球赛/排球赛/辩论赛]决赛今天下午结束，高二三班以[score]战胜高二一班，时隔六年再次捧起了流动的奖杯',
  ),
  template(
    'price',
    'zh',
    '业主诚心出售[城东/城西/江边]三室两厅，南北通透，精装修带家具，总价[round]元，看房请提前一天打电话预约',
  ),
  template('id', 'en', 'Your parcel [id] was handed to [the porter/a neighbour] this morning.'),
  template(
    'date',
    'en',
    'The pool is closed on [day] [May/June] while the [boiler/roof] is repaired.',
  ),
  template(
    'score',
    'en',
    'Goalkeeper saves two as the [postmen/bakers] win the final [score] in the rain',
  ),
  template(
    'price',
    'en',
    'Narrow boat, sleeps four, new stove, $[round], moorings paid until [spring/autumn]',
  ),
];

/**
 * From 80 on, with a number in passing: a count of views, the date of the page, a fee at its foot. Another such number leaves the page
 * what it is.
 */
export const LONG = [
  template(
    'number',
    'zh',
    '村里的[水磨/油坊/酒坊]停了整整十年，去年冬天又转了起来。修好它的是一位从城里回来的木匠，他照着老照片，一根一根地替换朽坏的木头，没有用一颗铁钉。开磨那天，全村的人都来看热闹，老人抓起一把新磨的面，说还是小时候的味道。现在每逢周末都有人开车来买，木匠说不打算扩大，够吃就好。阅读[n]次',
  ),
  template(
    'date',
    'zh',
    '发布日期：[year]-[month2]-[day2]。[阳台/楼顶/窗台]种菜要先看光照，每天能晒到四个小时以上的地方才适合种茄果类，光照少就种生菜、小葱和薄荷。盆子要深，底下垫一层碎瓦片，土里拌三成腐熟的羊粪和一成珍珠岩，浇水要浇透，等表面干了再浇。不要舍不得掐尖，掐一次能多发好几个侧枝，吃不完的分给邻居，比买来的香。',
  ),
  template(
    'price',
    'zh',
    '手工[竹篮/草帽/藤椅]，选用三年以上的老料，水煮去糖，阴干半个月再动手编，不容易生虫，也不会发霉。收口的地方用双股，压得紧，用上十几年也不松散。每一件都是同一位师傅从头做到尾，所以花纹略有不同，请不要当作瑕疵。介意的朋友可以先看实物照片。易碎部位有厚纸板保护，运输中损坏包赔，现价[price]元',
  ),
  template(
    'time',
    'zh',
    '[clock]更新：今天上午，[环卫工人/公交司机/外卖骑手]老李捡到一个黑色手提包，里面有护照、现金和一沓合同。他站在原地等了一个多小时，不见有人来找，就把包交到了附近的派出所。民警根据合同上的电话联系到失主，对方正在机场急得团团转。失主要给酬金，老李摆摆手，说捡到什么都该物归原主，快去赶飞机吧。',
  ),
  template(
    'id',
    'zh',
    '打印流水号[id]。[阅览室/档案室/特藏室]使用规则：外套和提包请放入寄存柜，只可以使用铅笔，拍照时请关闭闪光灯。每次取一盒资料到座位上，用完以后按原来的次序放好。如果发现纸页松脱或者破损，不要自己粘补，夹一张纸条交给柜台就好。翻阅之前请把手洗净擦干，不必戴手套。大幅地图须由两个人在窗边的长桌上展开。',
  ),
  template(
    'percent',
    'zh',
    '（手机发送，剩余电量[n]%）大家好，周末[爬山/骑车/采茶]的事情汇总一下：早上在地铁终点站集合，坐小巴到山脚，走东线上去，中午在半山的寺里吃素面，下午从西线下来。一路上有三段台阶比较陡，膝盖不好的同学可以坐缆车。山顶风大，请带一件厚外套，每个人自己带水，垃圾带下山。晚上聚餐的费用平摊，有忌口的提前告诉我。',
  ),
  template(
    'unit',
    'zh',
    '附件大小[decimal]兆。《[自建房/老房子/木屋]安全常识》，内容包括选址、地基、圈梁、构造柱、屋面防水和电线敷设等常见问题，配有插图，文字通俗易懂，适合村镇干部和施工队学习使用。各乡镇可以自行打印张贴，也可以转发到村民群里。下载以后如果打不开，请安装最新版本的阅读软件，需要高清印刷版的请与村镇科联系。',
  ),
  template(
    'number',
    'en',
    'The [old mill/oil press/smithy] at the end of our lane stood still for ten years, and last winter it began to turn again. The man who mended it came back from the city with a box of chisels and an old photograph, and replaced one rotten beam after another without a single nail. On the first day everybody came to look. An old woman took a pinch of the flour, put it on her tongue and said that it tasted as it should. He does not want a bigger one; enough is enough, he says. [n] views',
  ),
  template(
    'date',
    'en',
    'Posted [year]-[month2]-[day2]. If you want to grow food on a [balcony/rooftop/doorstep], look at the light first. Four hours of sun are enough for salad, chives and mint, while tomatoes want six or more. Take deep pots, put broken crockery over the hole, and mix a good third of rotted manure into the soil. Water until it runs out below, then leave it alone until the surface is dry. Pinch out the tips without mercy: each cut makes two shoots. Give away what you cannot eat, it makes friends of neighbours.',
  ),
  template(
    'price',
    'en',
    'A [basket/stool/lamp] made slowly, by one pair of hands. The willow is cut in winter, boiled, stripped and dried in the barn until it rings when you knock two rods together. Edges are woven double, so that they hold for decades, and because each one is made from start to finish by the same person no two have quite the same pattern. Please do not take that for a fault. We pack them in straw and card; if one is damaged on the way we send another. Price with delivery: $[price]',
  ),
  template(
    'time',
    'en',
    'Updated at [clock]. A [street sweeper/bus driver/postwoman] found a black case on the steps of the bank this morning with money, a passport and a signed contract in it. After an hour, when nobody had come, the case went to the police station, where an officer found a number on the contract and rang it. The owner was at the airport, turning out every pocket for the third time. There was an offer of a reward, which was declined: everything has a place where it belongs, and now run, you have a plane to catch.',
  ),
  template(
    'id',
    'en',
    'Copy no. [id]. Rules of the [reading room/map room/archive]: coats and bags stay in the lockers, pencils only, photographs without flash. Take one box at a time to your desk and keep the papers in the order in which you found them. If a page is loose or torn, do not mend it; put in a slip and tell the person at the counter. Clean, dry hands are better than gloves. Large sheets are unfolded by two people on the table by the window. We close the boxes a quarter of an hour before the room closes.',
  ),
  template(
    'percent',
    'en',
    'Hello all, here is the plan for the [walk/ride/picnic] on Saturday. We meet at the last stop of the tram, take the small bus to the foot of the hill and go up by the eastern path, which is steeper but in the shade. The soup at the hut is good and costs next to nothing. We come down through the orchards and should be at the inn before dark. Bring something warm for the top, your own water and a bag for rubbish. If your knees complain, there is a cable car. (Sent from my phone, battery at [n]%)',
  ),
  template(
    'unit',
    'en',
    'Download the [walking/cycling/riding] map of the valley as a single sheet. It shows every footpath, stile and spring, the two pubs, the bus stops and the places where you are likely to lose a boot in wet weather. Members of the ramblers drew it over three winters and checked it on foot. You are free to print and share it as long as you do not sell it. If you find a mistake, write to us with the grid reference and we will put it right in the next edition. Size of the file: [decimal] MB',
  ),
];
