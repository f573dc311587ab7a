"""Words that Taiwan and the mainland call differently: 資料庫 and 数据库. Folding characters does not bring them together.

A question is asked in both; what is indexed stays as it was written. Taken from OpenCC's Taiwan phrases (Apache-2.0), the
words of people who work with computers, all in Simplified characters as `tokens.fold` leaves them.
"""

from __future__ import annotations

_PAIRS = """
资料库 数据库  程式码 代码  程式 程序  软体 软件  硬体 硬件  韧体 固件  伺服器 服务器  网路 网络  网际网路 互联网
影片 视频  滑鼠 鼠标  档案 文件  资料夹 文件夹  资讯 信息  记忆体 内存  介面 界面  使用者 用户  登入 登录  专案 项目  预设 默认
函式 函数  变数 变量  物件 对象  阵列 数组  字串 字符串  回圈 循环  执行绪 线程  萤幕 屏幕  列印 打印  硬碟 硬盘
光碟 光盘  笔记型电脑 笔记本电脑  演算法 算法  人工智慧 人工智能  快取 缓存  伫列 队列
位元组 字节  频宽 带宽  连结 链接  连线 连接  讯息 消息  简讯 短信  行动电话 移动电话  品质 质量  计程车 出租车
捷运 地铁  脚踏车 自行车  公车 公交车  影印 复印  部落格 博客  搜寻 搜索  设定 设置  选单 菜单  视窗 窗口  模组 模块
原始码 源代码  相容 兼容  支援 支持  最佳化 优化  除错 调试  汇入 导入  汇出 导出  储存 存储  范例 示例
马铃薯 土豆  凤梨 菠萝  酪梨 牛油果  优格 酸奶  泡面 方便面  幼稚园 幼儿园  国中 初中
"""
_WORDS = _PAIRS.split()
_TAIWAN, _MAINLAND = _WORDS[::2], _WORDS[1::2]
_OTHER = dict(zip(_MAINLAND, _TAIWAN, strict=True)) | dict(zip(_TAIWAN, _MAINLAND, strict=True))


def others(folded: str) -> list[str]:
    """What the words of a folded text are called on the other side; the longest word first, none inside another."""
    found = []
    for word in sorted((word for word in _OTHER if word in folded), key=len, reverse=True):
        if word in folded:
            found.append(_OTHER[word])
            folded = folded.replace(word, " ")
    return found
