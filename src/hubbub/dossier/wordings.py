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
        forms: Questions of the stores' forms, and the facts that answer them.
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
    ran: str
    choice: str
    choices: Sequence[str]
    form: str
    form_lead: str
    forms: Sequence[tuple[str, str]]
    windows: Mapping[str, str]
    sure: str
    certain: str
    no_bound: str
    question: str
    fact: str


ENGLISH = Wording(
    title="What {collection} measures, and how far answers stay hidden",
    what="What is measured",
    lead="The program tells its makers about its use, in a way that hides the answer of each single device:",
    metric="{description} ({name}). What for: {purpose}. Once for each {window}{turns}, from {starts} until the day "
    "before {expires}.",
    turns=", at most one in {every}",
    owners="Who answers for it: {owners}.",
    clear="Sent with it as it is, without disguise: {names}.",
    how="How your answer is hidden",
    disguise=(
        "Your device changes its answer at random before anything leaves it. Any answer may have led to what is sent.",
        "No report shows whether its answer was changed. From very many devices together those who receive them can "
        "work out how all of them answered on average, with a margin of error.",
        "What is sent holds no name, no account, no identifier that was given to you or your device, no exact time.",
    ),
    price="How much that hides, in numbers",
    prices=(
        "One report: somebody who held two answers of yours for equally likely becomes {report} of one by reading it.",
        "All reports about one day together: {day}.",
        "All reports until these dates, if nothing ever changes on your device: {steady}.",
        "A year of reports, if what is measured changes often, and of two different courses of the whole year: {life}.",
        "These figures are for one device. Several devices of yours add up.",
    ),
    worst="In the worst case a year gives no protection.",
    seen="What is not hidden",
    open=(
        "That your device takes part. Networks see its address while it sends; what receives the reports does not "
        "store it.",
        "What holds for everybody together, which is what is measured.",
    ),
    hidden="Times at which the program did not run are filled in at its next start, if that is soon enough, so that "
    "they do not show in these: {names}.",
    turn="By when your device reports, its turn can be seen, one of so many: {names}.",
    public="A number that stays the same for your device travels with each report, one of so many: {names}.",
    told="Reports of these can partly or wholly be told to come from the same device: {names}.",
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
        ("What data leaves the device?", "The disguised answers to what is listed above. Nothing else of the person."),
        (
            "Is it tied to a person or device?",
            "Reports carry no account, device or advertising identifier. Each has an id of its own, made from a secret "
            "that stays on the device.",
        ),
        (
            "Is it used for tracking?",
            "No identifier ties reports together or to other data. How many bits of a report can be found again in a "
            "device's next one stands in the dossier.",
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
            "On the device, yes. What was received carries no name or identifier to look for.",
        ),
        ("Is it shared with others?", "The software sends it to the one address that the app gives, and nowhere else."),
        ("Is it optional?", "Yes, where the app passes on the choice; the environment's DO_NOT_TRACK is obeyed."),
        ("How long is it kept?", "For as long as whoever runs the collector keeps it; fill in your own period."),
    ),
    windows={"hour": "hour", "day": "day", "week": "week"},
    sure="at most {percent} sure",
    certain="practically sure",
    no_bound="entirely sure",
    question="question",
    fact="fact",
)

CHINESE = Wording(
    title="{collection} 统计什么，隐藏到什么程度",
    what="统计什么",
    lead="本程序向其制作者报告使用情况，但每一台设备自己的回答都被隐藏：",
    metric="{description}（{name}）。用途：{purpose}。"
    "每{window}一次{turns}，自 {starts} 起，至 {expires} 止（不含该日）。",
    turns="（每 {every} 次中至多报告一次）",
    owners="负责人：{owners}。",
    clear="随之原样发送、不加掩饰的内容：{names}。",
    how="你的回答如何被隐藏",
    disguise=(
        "在任何内容离开设备之前，设备会随机改动自己的回答。无论真实回答是什么，都有可能发出同样的内容。",
        "收到的人无法分辨一个回答是否被改动过。只有把极多设备放在一起，才能算出全体的平均情况，并附带误差范围。",
        "发送的内容不含姓名、账号、分配给你或设备的标识，也不含确切时间。",
    ),
    price="隐藏到什么程度（数字）",
    prices=(
        "一份报告：若有人原先认为你的两种回答可能性相同，读过之后对其中之一的把握{report}。",
        "同一天的全部报告合在一起：把握{day}。",
        "若设备上的情况从不变化，上述期限内的全部报告：把握{steady}。",
        "若所统计的内容经常变化，对于两种不同的全年经过，一整年的报告合在一起：把握{life}。",
        "以上数字针对一台设备；你有几台设备，就要相加。",
    ),
    worst="最坏情况下，一整年等于没有保护。",
    seen="哪些没有被隐藏",
    open=(
        "你的设备参与了统计。发送时网络能看到它的地址；接收报告的程序不保存地址。",
        "全体共有的情况，这正是统计的目的。",
    ),
    hidden="程序未运行的时段会在下次启动时补报（前提是不太晚），因而在以下各项中看不出来：{names}。",
    turn="从你的设备何时报告，可以看出它轮到的次序（括号内为可能的个数）：{names}。",
    public="一个在你的设备上保持不变的编号会随每份报告发送（括号内为可能取值的个数）：{names}。",
    told="以下各项的报告可能部分或全部被看出来自同一台设备：{names}。",
    ran="程序在哪些小时、哪些天或哪些周运行过：{names}。",
    choice="你的选择",
    choices=(
        "你可以随时拒绝。此后不再记录、不再发送，尚未发出的内容会被清除。",
        "已发出的报告无法收回，也无法找出：其中没有任何内容写明是你。",
        "设备上保存着它已付出多少隐私的清单，可在程序中查看，"
        "或用 `python -m hubbub.client ledger --state FOLDER` 查看。",
    ),
    form="供应用商店隐私表单使用的事实",
    form_lead="应勾选哪一项，由填写表单的人决定。",
    forms=(
        ("哪些数据离开设备？", "上面所列各项经过掩饰的回答，除此之外没有关于个人的内容。"),
        (
            "是否与个人或设备关联？",
            "报告不含账号、设备或广告标识。每份报告有各自的编号，由不离开设备的密钥算出。",
        ),
        (
            "是否用于跟踪？",
            "没有标识把报告彼此联系起来，或与其他数据联系起来。一份报告中有多少比特会在同一台设备的下一份中重现，"
            "见说明文件（dossier）。",
        ),
        (
            "何时开始？",
            "若程序先询问，则在作出选择之前不发送；否则从安装后第一个完整的小时、天或周开始。请填写是哪一种。",
        ),
        ("传输是否加密？", "若应用给出的收集地址以 https 开头，则加密。"),
        ("能否要求删除？", "在设备上可以。已收到的报告中没有可供查找的姓名或标识。"),
        ("是否与他人共享？", "软件只发送到应用给出的那一个地址，不发送到别处。"),
        ("是否可选？", "若应用把选择传给本软件，则可选；环境变量 DO_NOT_TRACK 会被遵守。"),
        ("保存多久？", "由运行收集端的一方决定；请填写你们自己的期限。"),
    ),
    windows={"hour": "小时", "day": "天", "week": "周"},
    sure="至多为 {percent}",
    certain="几乎为 100 %",
    no_bound="可达 100 %",
    question="问题",
    fact="事实",
)
