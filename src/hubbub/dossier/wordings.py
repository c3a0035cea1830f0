"""What the notice says in each language. Both say the same, sentence by sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """The sentences of one language; names in braces are filled in.

    Attributes:
        windows: Names of the lengths of windows.
        sure: How sure somebody becomes.
        certain: The same beyond 99.99 %.
        no_bound: The same where there is no bound.
        between: What stands between two names of a list.
        inside: A name with what belongs to it.
        forms: Questions of the stores' forms, and the facts that answer them: {clear}, {number} and {turn} are filled
            in where there is such a thing, {apart} where reports of a device can be told from others, else {alike};
            {mixed} and {kept} where somebody is declared who mixes reports on the way.
    """

    title: str
    what: str
    lead: str
    metric: str
    turns: str
    owners: str
    clear: str
    how: str
    disguise: Sequence[str]
    price: str
    prices: Sequence[str]
    worst: str
    seen: str
    open: Sequence[str]
    hidden: str
    turn: str
    public: str
    told: str
    mixed: str
    ran: str
    choice: str
    choices: Sequence[str]
    form: str
    form_lead: str
    forms: Sequence[tuple[str, str]]
    form_clear: str
    form_number: str
    form_turn: str
    form_apart: str
    form_alike: str
    form_mixed: str
    form_kept: str
    windows: Mapping[str, str]
    sure: str
    certain: str
    no_bound: str
    between: str
    inside: str
    question: str
    fact: str


ENGLISH = Wording(
    title="What {collection} measures, and how far answers stay hidden",
    what="What is measured",
    lead="The program tells its makers about its use, in a way that hides the answer of each single device:",
    metric="{description} ({name}). What for: {purpose}. Once for each {window}{turns}, from {starts} until the day "
    "before {expires}.",
    turns=", at most one in {every}",
    owners="Who answers for it: {names}.",
    clear=" Sent with it as it is, without disguise: {names}.",
    how="How your answer is hidden",
    disguise=(
        "Your device changes its answer at random before anything leaves it (local differential privacy). Any answer "
        "may have led to what is sent.",
        "No report shows whether its answer was changed. From very many devices together those who receive them can "
        "work out how all of them answered on average, with a margin of error.",
        "What is sent holds no name, no account, no identifier that was given to you or your device, no exact time.",
    ),
    price="How much that hides, in numbers",
    prices=(
        "One report: somebody who held two answers of yours to be equally likely becomes {report} of one by reading "
        "it.",
        "All reports about one day together: {day}.",
        "All reports until these dates, if nothing ever changes on your device: {steady}.",
        "A year of reports, if what is measured changes often, and of two different courses of the whole year: {life}.",
        "These figures are for one device. Several devices of yours add up.",
    ),
    worst="In the worst case a year gives no protection.",
    seen="What is not hidden",
    open=(
        "That your device takes part. Networks see its address while it sends; what collects the reports does not "
        "store it.",
        "What holds for everybody together, which is what is measured.",
    ),
    hidden="Times at which the program did not run are filled in at its next start, if that is soon enough, so that "
    "they do not show in these: {names}.",
    turn="By when your device reports, its turn can be seen, one of so many: {names}.",
    public="A number that stays the same for your device travels with each report, one of so many: {names}.",
    told="Reports of these can partly or wholly be told to come from the same device: {names}.",
    mixed="On their way some reports pass through somebody else, who mixes them, as the makers of the program declare. "
    "What you read here does not count on that; whoever mixes them may see your device's address and the disguised "
    "reports: {names}.",
    ran="In which hours, days or weeks the program ran: {names}.",
    choice="Your choice",
    choices=(
        "You can refuse at any time. Then nothing is recorded and nothing is sent, and what waits is wiped.",
        "Reports that were sent cannot be called back or found: nothing in them names you.",
        "Your device keeps a list of what it gave away. The program, or "
        "`python -m hubbub.client ledger --state FOLDER`, shows it.",
    ),
    form="Facts for the stores' privacy forms",
    form_lead="Which boxes they lead to is for whoever fills in the form to decide.",
    forms=(
        (
            "What data leaves the device?",
            "The disguised answers to what is listed above, each with the name of its metric and the hour, day or week "
            "that it is about.{clear} Nothing else of the person.",
        ),
        (
            "Is it tied to a person or device?",
            "Reports carry no account, device or advertising identifier. Each has an id of its own, made from a secret "
            "that stays on the device.{number}{turn}",
        ),
        (
            "Is it used for tracking?",
            "{alike}{apart} How many bits of a report can be found again in a device's next one stands in the dossier.",
        ),
        (
            "When does it begin?",
            "If the program asks first, nothing is sent before the choice; otherwise with the first whole hour, day or "
            "week after the installation. Fill in which.",
        ),
        (
            "Is it encrypted on its way?",
            "If the address that the app gives for the collector begins with https, yes.",
        ),
        (
            "Can people ask for deletion?",
            "On the device, yes. What was received carries no name or account to look for.",
        ),
        (
            "Is it shared with others?",
            "The software sends it to the one address that the app gives, and nowhere else.{mixed}",
        ),
        ("Is it optional?", "Yes, where the app passes on the choice; the environment's DO_NOT_TRACK is obeyed."),
        (
            "How long is it kept?",
            "For as long as whoever runs the collector keeps it; fill in your own period.{kept}",
        ),
    ),
    form_clear=" Sent with them as it is, without disguise: {names}.",
    form_number=" Reports of these carry a number that stays the same for the device, one of so many: {names}.",
    form_turn=" By when reports of these come, the turn of the device can be seen, one of so many: {names}.",
    form_apart="No identifier ties reports to other data. Reports of these can partly or wholly be told to come from "
    "the same device: {names}.",
    form_alike="No identifier ties reports together or to other data.",
    form_mixed=" On the way, as the definitions declare, reports are handled by a recipient who mixes them: {names}.",
    form_kept=" Fill in the period of whoever mixes reports on the way, too.",
    windows={"hour": "hour", "day": "day", "week": "week"},
    sure="at most {percent} % sure",
    certain="practically sure",
    no_bound="entirely sure",
    between=", ",
    inside="{name} ({values})",
    question="question",
    fact="fact",
)

CHINESE = Wording(
    title="{collection} 统计什么，隐私保护到什么程度",
    what="统计什么",
    lead="本程序会向开发者报告使用情况，报告方式会隐藏每一台设备各自的回答：",
    metric="{description}（{name}）。用途：{purpose}。"
    "每{window}一次{turns}，从 {starts} 开始，到 {expires} 的前一天为止。",
    turns="（每 {every} 次中最多报告一次）",
    owners="负责人：{names}。",
    clear="随报告原样发送、未经扰动的内容：{names}。",
    how="你的回答是怎样隐藏的",
    disguise=(
        "数据离开设备之前，设备会先对自己的回答做随机扰动（本地差分隐私）。无论真实回答是什么，都有可能发出同样的内容。",
        "单看一份报告，无法判断其中的回答是否被改动过。只有汇总大量设备的报告，接收方才能估计出全体设备的平均情况，"
        "而且带有误差。",
        "发送的内容不含姓名、账号、分配给你或设备的标识符，也不含确切时间。",
    ),
    price="隐藏到什么程度：具体数字",
    prices=(
        "一份报告：如果有人原本认为你的两种回答可能性相同，读过报告之后，他对其中一种的把握{report}。",
        "同一天的所有报告合在一起：把握{day}。",
        "如果你的设备上始终没有变化，到上述日期为止的所有报告合在一起：把握{steady}。",
        "如果统计的内容经常变化，要区分的是全年的两种不同情形，那么一年的报告合在一起：把握{life}。",
        "以上数字按一台设备计算。你有多台设备时，需要累加。",
    ),
    worst="最坏情况下，一整年的报告合在一起等于没有保护。",
    seen="哪些内容没有隐藏",
    open=(
        "你的设备参与了统计。发送时，网络可以看到设备的地址；收集报告的程序不保存地址。",
        "全体设备共有的情况，这正是统计的目的。",
    ),
    hidden="程序没有运行的时段会在下次启动时补报（只要间隔不太久），因此在以下指标中看不出来：{names}。",
    turn="设备何时报告，会显示轮到它的次序（括号内为次序总数）：{names}。",
    public="有一个编号在你的设备上保持不变，并随每份报告发送（括号内为可能的编号个数）：{names}。",
    told="以下指标的报告可能部分或全部被认出来自同一台设备：{names}。",
    mixed="据程序的开发者声明，部分报告在途中经过另一方，由其混合。本文的说明不依赖这一点；混合报告的一方可能看到设备的地址"
    "和经过扰动的报告：{names}。",
    ran="程序在哪些小时、哪些天或哪些周运行过：{names}。",
    choice="你的选择",
    choices=(
        "你可以随时拒绝。拒绝之后不再记录，也不再发送；等待发送的内容会被清除。",
        "已经发出的报告无法撤回，也无法找出来：其中没有指明你身份的内容。",
        "设备上有一份账本，记录已经付出的隐私代价。可以在程序中查看，"
        "也可以用 `python -m hubbub.client ledger --state FOLDER` 查看。",
    ),
    form="填写应用商店隐私表单所需的事实",
    form_lead="应当勾选哪些选项，由填写表单的人决定。",
    forms=(
        (
            "哪些数据会离开设备？",
            "对上述各项的回答，均已经过扰动；每份报告还注明属于哪项指标、对应哪个小时、哪一天或哪一周。{clear}"
            "除此之外，没有其他关于个人的内容。",
        ),
        (
            "是否与个人或设备关联？",
            "报告不含账号、设备标识符或广告标识符。每份报告有自己的编号，由不离开设备的密钥生成。{number}{turn}",
        ),
        (
            "是否用于跟踪？",
            "{alike}{apart}一份报告中有多少比特能在同一台设备的下一份报告中重新认出，见说明文件（dossier）。",
        ),
        (
            "从什么时候开始？",
            "如果程序先征求同意，作出选择之前不发送任何内容；否则从安装后第一个完整的小时、天或周开始。"
            "请填写属于哪一种。",
        ),
        ("传输是否加密？", "如果应用指定的收集端地址以 https 开头，则加密。"),
        ("能否要求删除？", "设备上的内容可以删除。已收到的报告中没有可供查找的姓名或账号。"),
        ("是否与他人共享？", "本软件只把数据发送到应用指定的那一个地址，不发往别处。{mixed}"),
        ("是否可选？", "如果应用把用户的选择传给本软件，则可选；环境变量 DO_NOT_TRACK 同样有效。"),
        ("保存多久？", "由运行收集端的一方决定；请填写你们自己的期限。{kept}"),
    ),
    form_clear="随报告原样发送、未经扰动的内容还有：{names}。",
    form_number="以下指标的报告带有一个编号，在同一台设备上保持不变（括号内为可能的编号个数）：{names}。",
    form_turn="以下指标由设备轮流报告，从报告的时间可以看出轮到这台设备的次序（括号内为次序总数）：{names}。",
    form_apart="没有标识符把报告与其他数据联系起来，但以下指标的报告可能部分或全部被认出来自同一台设备：{names}。",
    form_alike="没有标识符把各份报告彼此联系起来，或与其他数据联系起来。",
    form_mixed="据指标定义中的声明，报告在途中由另一方混合，该方也是接收方：{names}。",
    form_kept="还请填写途中混合报告的一方的保存期限。",
    windows={"hour": "小时", "day": "天", "week": "周"},
    sure="最高为 {percent}%",
    certain="几乎为 100%",
    no_bound="可达 100%",
    between="、",
    inside="{name}（{values}）",
    question="问题",
    fact="事实",
)
